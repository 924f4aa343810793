//! Charts as inline SVG: lines with interval bands, and stacked shares. Colours come from the page's style sheet
//! (classes `c1` to `c6`), so that they follow its light and dark mode.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::frame::escaped;
use super::scale::{Scale, short};

/// Size of the drawing, and margins for the axes: left, top, right, bottom.
const SIZE: [f64; 2] = [380.0, 210.0];
const ROOM: [f64; 4] = [50.0, 20.0, 10.0, 32.0];
/// Maximum number of points of a line; longer ones are drawn as means of neighbours.
const MOST_POINTS: usize = 300;
/// Maximum number of points of a line that are shown as dots.
const MOST_DOTS: usize = 40;

/// Data point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// NaN leaves a gap. So does an infinite value, which is drawn as a triangle at the known end of its interval.
    pub y: f64,
    /// 95 % interval; its ends may be infinite.
    pub interval: Option<[f64; 2]>,
}

/// Line, or layer of a stack.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Name in the legend and in tooltips, as text.
    pub name: &'a str,
    /// Points by increasing x.
    pub points: Vec<Point>,
}

impl<'a> Series<'a> {
    /// Creates a series without intervals.
    pub fn new(name: &'a str, points: impl Iterator<Item = (f64, f64)>) -> Self {
        Self { name, points: points.map(|(x, y)| Point { x, y, interval: None }).collect() }
    }
}

/// Kind of chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One line per series, with interval bands.
    Lines,
    /// Shares of a whole, stacked.
    Stacked,
}

impl Form {
    /// Suffix of the element's class attribute.
    fn class(self) -> &'static str {
        match self {
            Self::Lines => "",
            Self::Stacked => " stacked",
        }
    }
}

/// Chart with its axes and series.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// Caption and accessible label, as text.
    pub title: &'a str,
    /// Unit of the y axis.
    pub unit: &'a str,
    /// Unit of the x axis.
    pub x_unit: &'a str,
    /// How the series are drawn.
    pub form: Form,
    /// Range to include in the x axis, in addition to that of the points.
    pub x_range: Option<[f64; 2]>,
    /// Scale of the y axis; derived from the values by default.
    pub y: Option<Scale>,
    /// At most six series, one per colour; the layers of a stack have the same x.
    pub series: Vec<Series<'a>>,
}

impl Chart<'_> {
    /// The chart as a figure with title, legend and an explanatory note.
    pub fn figure(&self, note: &str) -> String {
        let mut legend = String::new();
        let group = self.series.iter().map(|series| group_of(&series.points)).max().unwrap_or(1);
        let means = if group > 1 { format!(" Each point is the mean of {group}.") } else { String::new() };
        for (series, colour) in self.series.iter().zip(1..) {
            let last = series.points.iter().rev().find(|point| !point.y.is_nan());
            let last = last.map(|point| self.value(point.y)).unwrap_or_default();
            let name = escaped(series.name);
            write!(legend, r#"<li><i class="c{colour}"></i>{name} <b>{last}</b></li>"#).expect("a string");
        }
        format!(
            "<figure class=\"card{}\"><figcaption>{}</figcaption><ul class=\"legend\">{legend}</ul>{}<p class=\"note\">{}</p></figure>\n",
            self.form.class(),
            escaped(self.title),
            self.svg(""),
            escaped(note) + &means
        )
    }

    /// The chart as an SVG element; `extra` contains further shapes, drawn on top.
    pub fn svg(&self, extra: &str) -> String {
        let thinned: Vec<Vec<Point>> = self.series.iter().map(|series| thinned(&series.points)).collect();
        let area = self.area(&thinned);
        let mut shapes = area.axes(self);
        match self.form {
            Form::Lines => {
                for (points, colour) in thinned.iter().zip(1..) {
                    shapes += &area.line(points, colour);
                }
            }
            Form::Stacked => shapes += &area.stack(&thinned),
        }
        shapes += &area.tips(self, &thinned);
        let ([width, height], title, class) = (SIZE, escaped(self.title), self.form.class());
        format!(
            r#"<svg class="chart{class}" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">{shapes}{extra}</svg>"#
        )
    }

    /// Left and right end of the plot in the drawing's coordinates.
    pub fn x_ends() -> [f64; 2] {
        [ROOM[0], SIZE[0] - ROOM[2]]
    }

    /// Top and bottom of the plot in the drawing's coordinates.
    pub fn y_ends() -> [f64; 2] {
        [ROOM[1], SIZE[1] - ROOM[3]]
    }

    fn area(&self, series: &[Vec<Point>]) -> Area {
        let points = || series.iter().flatten();
        let xs = points().map(|point| point.x).chain(self.x_range.into_iter().flatten());
        let ys = points().flat_map(|point| [point.y].into_iter().chain(point.interval.into_iter().flatten()));
        let y = match self.form {
            Form::Stacked => Scale::fixed(0.0, 100.0, 25.0),
            Form::Lines => self.y.unwrap_or_else(|| Scale::of(ys)),
        };
        Area { x: Scale::of_counts(xs), y }
    }

    fn value(&self, value: f64) -> String {
        if self.unit == "%" { format!("{value:.1} %") } else { short(value) }
    }

    fn tip(&self, name: &str, point: &Point) -> String {
        let value = self.value(point.y);
        match point.interval {
            Some([low, high]) => format!("{name}: {value} [{}, {}]", self.value(low), self.value(high)),
            None => format!("{name}: {value}"),
        }
    }
}

/// The plot with the scales of its axes.
struct Area {
    x: Scale,
    y: Scale,
}

impl Area {
    fn at(&self, x: f64, y: f64) -> [f64; 2] {
        let ([left, right], [top, bottom]) = (Chart::x_ends(), Chart::y_ends());
        [left + (right - left) * self.x.place(x), bottom - (bottom - top) * self.y.place(y)]
    }

    fn axes(&self, chart: &Chart<'_>) -> String {
        let ([left, right], [_, bottom], mut shapes) = (Chart::x_ends(), Chart::y_ends(), String::new());
        for tick in self.y.ticks() {
            let ([_, y], label) = (self.at(0.0, tick), self.y.label(tick));
            write!(
                shapes,
                r#"<path class="grid" d="M{left} {y:.1}H{right}"/><text x="{}" y="{:.1}" text-anchor="end">{label}</text>"#,
                left - 6.0,
                y + 4.0
            )
            .expect("a string");
        }
        for tick in self.x.ticks() {
            let ([x, _], label) = (self.at(tick, 0.0), self.x.label(tick));
            write!(
                shapes,
                r#"<path class="axis" d="M{x:.1} {bottom}v4"/><text x="{x:.1}" y="{}" text-anchor="middle">{label}</text>"#,
                bottom + 15.0
            )
            .expect("a string");
        }
        let (unit, x_unit) = (escaped(chart.unit), escaped(chart.x_unit));
        let foot = bottom + 28.0;
        shapes
            + &format!(
                r#"<path class="axis" d="M{left} {bottom}H{right}"/><text class="unit" x="2" y="11">{unit}</text><text class="unit" x="{right}" y="{foot}" text-anchor="end">{x_unit}</text>"#
            )
    }

    /// Shapes of a line with its interval band, interrupted where values are missing.
    fn line(&self, points: &[Point], colour: usize) -> String {
        let mut shapes = String::new();
        for run in points.split(|point| !point.y.is_finite()).filter(|run| !run.is_empty()) {
            let ends = |end: usize| run.iter().filter_map(move |point| Some((point.x, point.interval?[end])));
            let band: Vec<[f64; 2]> =
                ends(0).chain(ends(1).collect::<Vec<_>>().into_iter().rev()).map(|(x, y)| self.at(x, y)).collect();
            if run.len() > 1 && !band.is_empty() {
                write!(shapes, r#"<path class="band c{colour}" d="{}Z"/>"#, path(&band)).expect("a string");
            }
            let line: Vec<[f64; 2]> = run.iter().map(|point| self.at(point.x, point.y)).collect();
            write!(shapes, r#"<path class="line c{colour}" d="{}"/>"#, path(&line)).expect("a string");
        }
        let alone = points.iter().filter(|point| point.y.is_finite()).count() == 1;
        for point in points {
            if let (true, Some([low, high])) = (alone || point.y.is_infinite(), point.interval) {
                let ([x, from], [_, to]) = (self.at(point.x, low), self.at(point.x, high));
                write!(shapes, r#"<path class="whisker c{colour}" d="M{x:.1} {from:.1}V{to:.1}"/>"#).expect("a string");
            }
            if points.len() <= MOST_DOTS && !point.y.is_nan() {
                shapes += &self.dot(point, colour);
            }
        }
        shapes
    }

    /// Dot at a value; for an infinite value, a triangle at the known end of its interval that points in its direction.
    fn dot(&self, point: &Point, colour: usize) -> String {
        if point.y.is_finite() {
            let [x, y] = self.at(point.x, point.y);
            return format!(r#"<circle class="dot c{colour}" cx="{x:.1}" cy="{y:.1}" r="2.6"/>"#);
        }
        let up = if point.y > 0.0 { -1.0 } else { 1.0 };
        let known = point.interval.map_or(point.y, |[low, high]| if up < 0.0 { low } else { high });
        let [x, y] = self.at(point.x, known);
        format!(r#"<path class="dot c{colour}" d="M{:.1} {y:.1}h8l-4 {}z"/>"#, x - 4.0, 7.0 * up)
    }

    /// Shapes of layers that are stacked, the first at the bottom.
    fn stack(&self, layers: &[Vec<Point>]) -> String {
        let mut shapes = String::new();
        let mut below: Vec<(f64, f64)> = layers.first().map_or(Vec::new(), |l| l.iter().map(|p| (p.x, 0.0)).collect());
        for (layer, colour) in layers.iter().zip(1..) {
            let value = |point: &Point| if point.y.is_finite() { point.y } else { 0.0 };
            let above: Vec<_> = below.iter().zip(layer).map(|(&(x, sum), point)| (x, sum + value(point))).collect();
            let outline = above.iter().chain(below.iter().rev()).map(|&(x, y)| self.at(x, y));
            let mut outline: Vec<[f64; 2]> = outline.collect();
            if let [[_, top], [x, bottom]] = outline[..] {
                // A single point is drawn as a bar.
                outline = vec![[x - 20.0, top], [x + 20.0, top], [x + 20.0, bottom], [x - 20.0, bottom]];
            }
            write!(shapes, r#"<path class="layer c{colour}" d="{}Z"/>"#, path(&outline)).expect("a string");
            below = above;
        }
        shapes
    }

    /// Invisible strips over the plot, one per x, with the values as tooltips.
    fn tips(&self, chart: &Chart<'_>, series: &[Vec<Point>]) -> String {
        let mut tips: BTreeMap<u64, (f64, Vec<String>)> = BTreeMap::new();
        for (points, series) in series.iter().zip(&chart.series) {
            for point in points.iter().filter(|point| !point.y.is_nan()) {
                let (_, lines) = tips.entry(point.x.max(0.0).to_bits()).or_insert((point.x, Vec::new()));
                lines.push(chart.tip(series.name, point));
            }
        }
        let places: Vec<f64> = tips.values().map(|&(x, _)| self.at(x, 0.0)[0]).collect();
        let ([left, right], [top, bottom]) = (Chart::x_ends(), Chart::y_ends());
        let mut shapes = String::new();
        for (i, (x, lines)) in tips.values().enumerate() {
            let from = if i == 0 { left } else { (places[i - 1] + places[i]) / 2.0 };
            let to = places.get(i + 1).map_or(right, |next| (places[i] + next) / 2.0);
            let (width, height) = (to - from, bottom - top);
            let (unit, lines) = (escaped(chart.x_unit), escaped(&lines.join("\n")));
            write!(
                shapes,
                r#"<rect class="tip" x="{from:.1}" y="{top}" width="{width:.1}" height="{height}"><title>{unit} {x:.0}
{lines}</title></rect>"#
            )
            .expect("a string");
        }
        shapes
    }
}

fn path(points: &[[f64; 2]]) -> String {
    let mut text = String::new();
    for (i, [x, y]) in points.iter().enumerate() {
        write!(text, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' }).expect("a string");
    }
    text
}

/// Number of neighbouring points that are drawn as one.
fn group_of(points: &[Point]) -> usize {
    points.len().div_ceil(MOST_POINTS).max(1)
}

/// Reduces a series to at most [`MOST_POINTS`] points by averaging neighbours.
fn thinned(points: &[Point]) -> Vec<Point> {
    let group = group_of(points);
    let mean = |points: &[Point], field: &dyn Fn(&Point) -> f64| {
        let finite: Vec<f64> = points.iter().map(field).filter(|value| value.is_finite()).collect();
        finite.iter().sum::<f64>() / finite.len() as f64
    };
    let merged = |points: &[Point]| match points {
        [point] => *point,
        _ => Point { x: points[points.len() - 1].x, y: mean(points, &|point| point.y), interval: None },
    };
    points.chunks(group).map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(form: Form, values: &[&[f64]]) -> Chart<'static> {
        let series = values.iter().map(|values| {
            let points = (1..).zip(*values).map(|(x, &y)| (f64::from(x), y));
            Series::new("a <series>", points)
        });
        let series = series.collect();
        Chart { title: "loss & <gain>", unit: "nats", x_unit: "iteration", form, x_range: None, y: None, series }
    }

    /// Checks that all numbers in the drawing are finite and all text is escaped.
    fn check(chart: &Chart<'_>) -> String {
        let figure = chart.figure("a note");
        for bad in ["NaN", "inf", "<series>", "<gain>", "& "] {
            assert!(!figure.contains(bad), "{bad}: {figure}");
        }
        figure
    }

    #[test]
    fn empty_single_constant_and_broken_series() {
        for form in [Form::Lines, Form::Stacked] {
            let cases: [&[&[f64]]; 6] =
                [&[], &[&[]], &[&[3.0]], &[&[3.0; 3]], &[&[f64::NAN]], &[&[1.0, f64::NAN, 2.0, f64::INFINITY]]];
            for values in cases {
                check(&chart(form, values));
            }
        }
        let gap = check(&chart(Form::Lines, &[&[1.0, 2.0, f64::NAN, 2.0, 3.0]]));
        assert_eq!(gap.matches("class=\"line c1\"").count(), 2);
        assert_eq!(gap.matches("class=\"tip\"").count(), 4);
    }

    #[test]
    fn values_are_drawn_according_to_the_axes() {
        let mut chart = chart(Form::Lines, &[&[0.0, 100.0]]);
        chart.y = Some(Scale::fixed(0.0, 100.0, 50.0));
        let ([left, right], [top, bottom]) = (Chart::x_ends(), Chart::y_ends());
        assert!(check(&chart).contains(&format!("d=\"M{left:.1} {bottom:.1}L{right:.1} {top:.1}\"")));
    }

    #[test]
    fn infinite_values_are_drawn_at_the_known_end_of_their_interval() {
        let mut chart = chart(Form::Lines, &[&[100.0, f64::INFINITY]]);
        chart.series[0].points[1].interval = Some([200.0, f64::INFINITY]);
        let figure = check(&chart);
        assert!(figure.contains("class=\"whisker c1\"") && figure.contains("+∞ [200, +∞]"), "{figure}");
    }

    #[test]
    fn long_series_are_thinned_to_means() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let chart = chart(Form::Lines, &[&values]);
        let few = thinned(&chart.series[0].points);
        assert_eq!((few.len(), few[0]), (250, Point { x: 4.0, y: 1.5, interval: None }));
        check(&chart);
    }
}
