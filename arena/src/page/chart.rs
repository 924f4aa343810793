//! Data of charts, which the page's script draws: lines with bands of intervals, stacked shares, and ranges.

use serde::{Serialize, Serializer};

use super::frame::data;

/// Maximum number of points of a line; longer ones become means of neighbours.
const MOST_POINTS: usize = 300;

/// Data point, written as a list of its numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// NaN leaves a gap. So does an infinite value, which is drawn as a triangle at the known end of its interval.
    pub y: f64,
    /// 95 % interval; its ends may be infinite.
    pub interval: Option<[f64; 2]>,
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rest = [self.y].into_iter().chain(self.interval.into_iter().flatten());
        serializer.collect_seq(std::iter::once(Number(self.x)).chain(rest.map(Number)))
    }
}

/// A number as JSON: NaN as `null`, infinity by its name.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str("Infinity"),
            f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
            // Seven digits draw the same.
            number => serializer.serialize_f32(number as f32),
        }
    }
}

/// Line, or layer of a stack.
#[derive(Clone, Debug, Serialize)]
pub struct Series<'a> {
    /// Name in the legend and in tooltips.
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

/// Chart with its axes and series.
#[derive(Clone, Debug, Serialize)]
pub struct Chart<'a> {
    /// Caption and accessible label.
    pub title: &'a str,
    /// Unit of the y axis.
    pub unit: &'a str,
    /// Unit of the x axis.
    pub x_unit: &'a str,
    /// Whether the series are shares of a whole, from 0 to 100.
    pub is_stacked: bool,
    /// Range to include in the x axis, in addition to that of the points.
    pub x: Option<[f64; 2]>,
    /// Ends of the y axis and distance of its ticks; derived from the values by default.
    pub y: Option<[f64; 3]>,
    /// At most six series, one per colour; the layers of a stack have the same x.
    pub series: Vec<Series<'a>>,
    /// A sentence below the chart.
    pub note: String,
}

/// The y axis of shares in percent.
pub const PERCENT: [f64; 3] = [0.0, 100.0, 25.0];

impl Chart<'_> {
    /// The chart as a figure with title, legend and note; empty if it shows no point.
    #[must_use]
    pub fn figure(mut self) -> String {
        if self.series.iter().all(|series| series.points.is_empty()) {
            return String::new();
        }
        let group = self.series.iter().map(|series| series.points.len().div_ceil(MOST_POINTS)).max().unwrap_or(1);
        if group > 1 {
            self.note += &format!(" Each point is the mean of {group}.");
            self.series.iter_mut().for_each(|series| series.points = thinned(&series.points, group));
        }
        figure(&self)
    }
}

/// A figure that the script draws.
fn figure(chart: &impl Serialize) -> String {
    format!("<figure class=\"card\">{}</figure>\n", data(None, chart))
}

/// Means of neighbouring points.
fn thinned(points: &[Point], group: usize) -> Vec<Point> {
    let merged = |points: &[Point]| {
        let finite: Vec<f64> = points.iter().map(|point| point.y).filter(|y| y.is_finite()).collect();
        let y = finite.iter().sum::<f64>() / finite.len() as f64;
        Point { x: points[points.len() - 1].x, y, interval: None }
    };
    points.chunks(group).map(merged).collect()
}

/// A named value with its 95 % interval, whose ends may be infinite.
#[derive(Clone, PartialEq, Debug)]
pub struct Range<'a> {
    /// Name shown above the line.
    pub name: &'a str,
    /// Value, shown as a dot.
    pub value: f64,
    /// Ends of the interval.
    pub interval: [f64; 2],
}

impl Serialize for Range<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            name: &'a str,
            value: Number,
            interval: [Number; 2],
        }
        let Self { name, value, interval } = *self;
        Written { name, value: Number(value), interval: interval.map(Number) }.serialize(serializer)
    }
}

/// A figure of values with their intervals on a common axis.
#[must_use]
pub fn ranges(title: &str, unit: &str, ranges: &[Range]) -> String {
    figure(&serde_json::json!({ "title": title, "unit": unit, "ranges": ranges }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_have_texts() {
        let point = |y, interval| serde_json::to_string(&Point { x: 1.0, y, interval }).expect("JSON");
        assert_eq!(point(f64::NAN, None), "[1.0,null]");
        assert_eq!(point(f64::INFINITY, Some([0.5, f64::INFINITY])), r#"[1.0,"Infinity",0.5,"Infinity"]"#);
        let range = Range { name: "b", value: 0.5, interval: [f64::NEG_INFINITY, 2.0] };
        let drawn = ranges("<a>", "Elo", &[range]);
        assert!(drawn.contains(r#"["-Infinity",2.0]"#) && !drawn.contains("<a>"), "{drawn}");
    }

    #[test]
    fn long_series_are_thinned_to_means() {
        let points: Vec<Point> = (0..1000).map(|x| Point { x: x.into(), y: x.into(), interval: None }).collect();
        let few = thinned(&points, 4);
        assert_eq!((few.len(), few[0]), (250, Point { x: 3.0, y: 1.5, interval: None }));
    }
}
