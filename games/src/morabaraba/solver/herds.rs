//! The numbers of herds: the cows of one side with the mills that it may not form by its next move.

use turnstone_env::Rules;
use turnstone_env::games::{Morabaraba, morabaraba};

use turnstone_exact::binomial;

pub(super) const POINTS: usize = 24;
const ALL: u32 = (1 << POINTS) - 1;

/// Lines, neighbours and symmetries of the board.
#[derive(Debug)]
pub(super) struct Board {
    /// For every point the other two points of its mills, as sets.
    others: Vec<Vec<u32>>,
    near: Vec<u32>,
    /// For every symmetry the image of every point.
    symmetries: Vec<Vec<u16>>,
}

/// The cows of a side, all placed, and a ban: mills that it may not form by its next move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Herd {
    pub(super) cows: u32,
    /// The point that the banned mills lack; 0 without a ban.
    pub(super) hole: u8,
    /// Which of that point's mills are banned, in the order of [`Board::others`]; 0 without a ban.
    pub(super) lines: u8,
}

impl Herd {
    pub(super) fn free(cows: u32) -> Self {
        Self { cows, hole: 0, lines: 0 }
    }

    pub(super) fn count(self) -> usize {
        self.cows.count_ones() as usize
    }

    /// Whether none of the other herd's cows stands where the banned mills lack one, which would have ended the ban.
    #[inline]
    pub(super) fn lacks_none_of(self, other: Self) -> bool {
        self.lines == 0 || other.cows >> self.hole & 1 == 0
    }

    /// The herd after the opponent has moved to `point`, which ends a ban that lacks this point.
    #[inline]
    pub(super) fn occupied(self, point: u8) -> Self {
        if self.lines > 0 && self.hole == point { Self::free(self.cows) } else { self }
    }
}

impl Board {
    pub(super) fn new() -> Self {
        let mut others = vec![Vec::new(); POINTS];
        for &mill in morabaraba::mills() {
            points(mill).for_each(|point| others[usize::from(point)].push(mill & !(1 << point)));
        }
        let spec = Morabaraba::default().spec();
        let symmetries = spec.symmetries.into_iter().map(|symmetry| symmetry.points).collect();
        Self { others, near: morabaraba::neighbours().to_vec(), symmetries }
    }

    /// The herd of a side of a state.
    pub(super) fn herd(&self, cows: u32, banned: impl Iterator<Item = u32>) -> Herd {
        let mut herd = Herd::free(cows);
        for mill in banned {
            herd.hole = (mill & !cows).trailing_zeros() as u8;
            let line = self.others[usize::from(herd.hole)].iter().position(|&others| mill & others == others);
            herd.lines |= 1 << line.expect("a mill contains the point that it lacks");
        }
        herd
    }

    /// The herd after a move.
    #[inline]
    pub(super) fn moved(&self, herd: Herd, from: u8, to: u8) -> Herd {
        let rest = herd.cows & !(1 << from);
        let lines = self.lines(from, rest);
        Herd { cows: rest | 1 << to, hole: if lines > 0 { from } else { 0 }, lines }
    }

    /// Which mills of a point the cows complete but for the point.
    #[inline]
    fn lines(&self, point: u8, cows: u32) -> u8 {
        let mills = self.others[usize::from(point)].iter().enumerate();
        mills.fold(0, |lines, (k, &others)| lines | u8::from(cows & others == others) << k)
    }

    /// Whether the cow at `point` stands in a mill.
    #[inline]
    pub(super) fn closes(&self, cows: u32, point: u8) -> bool {
        self.others[usize::from(point)].iter().copied().any(|others| others & !cows == 0)
    }

    /// The herds that a shot at this one leaves.
    pub(super) fn shots(&self, herd: Herd) -> impl Iterator<Item = Herd> {
        let alone = points(herd.cows).filter(|&point| !self.closes(herd.cows, point)).fold(0, |set, p| set | 1 << p);
        points(if alone == 0 { herd.cows } else { alone }).map(move |point| {
            let cows = herd.cows & !(1 << point);
            let lines = herd.lines & self.lines(herd.hole, cows);
            Herd { cows, hole: if lines > 0 { herd.hole } else { 0 }, lines }
        })
    }

    /// The cows that may move to the point that the banned mills lack: those in all of these mills.
    #[inline]
    fn exempt(&self, herd: Herd) -> u32 {
        let mills = self.others[usize::from(herd.hole)].iter().enumerate();
        mills.filter(|&(k, _)| herd.lines >> k & 1 == 1).fold(ALL, |exempt, (_, &others)| exempt & others)
    }

    /// Where the cow at `from` may go.
    #[inline]
    pub(super) fn reach(&self, herd: Herd, from: u8, other: u32) -> u32 {
        let open = self.around(herd.cows, from) & !(herd.cows | other);
        if herd.lines == 0 || self.exempt(herd) >> from & 1 == 1 { open } else { open & !(1 << herd.hole) }
    }

    /// The points that a cow at `from` could move or fly to, or come from, on an empty board.
    #[inline]
    pub(super) fn around(&self, cows: u32, from: u8) -> u32 {
        if cows.count_ones() == 3 { ALL } else { self.near[usize::from(from)] }
    }
}

/// All herds with one number of cows: those without a ban by the order of their sets, each followed by those with one.
#[derive(Debug)]
pub(super) struct Herds {
    /// `terms[i][p]`: what the point `p` adds to the rank of a set whose `i`th point it is.
    terms: Vec<[u32; POINTS]>,
    all: Vec<Herd>,
    /// Number of the first herd of each set.
    first: Vec<u32>,
    /// For every symmetry the image of every herd.
    images: Vec<Vec<u32>>,
    /// The class of every herd under the symmetries, and a symmetry that leads to the one that stands for it.
    classes: Vec<(u32, u8)>,
    /// The herd that stands for each class, and the symmetries that leave it as it is.
    standing: Vec<(u32, Vec<u8>)>,
}

impl Herds {
    pub(super) fn new(board: &Board, count: usize) -> Self {
        let terms = (0..count).map(|i| std::array::from_fn(|point| binomial(point, i + 1) as u32)).collect();
        let (mut all, mut first) = (Vec::new(), Vec::new());
        for cows in (0_u32..1 << POINTS).filter(|set| set.count_ones() as usize == count) {
            first.push(all.len() as u32);
            all.push(Herd::free(cows));
            for hole in points(ALL & !cows) {
                let present = board.lines(hole, cows);
                let banned = (1..=present).filter(|lines| lines & !present == 0);
                all.extend(banned.map(|lines| Herd { cows, hole, lines }));
            }
        }
        let mut herds = Self { terms, all, first, images: vec![], classes: vec![], standing: vec![] };
        for symmetry in &board.symmetries {
            let image = |set: u32| points(set).fold(0, |image, point| image | 1 << symmetry[usize::from(point)]);
            let images = herds.all.iter().map(|herd| {
                let mills = board.others[usize::from(herd.hole)].iter().enumerate();
                let banned = mills.filter(|&(k, _)| herd.lines >> k & 1 == 1);
                let banned = banned.map(|(_, &others)| image(others | 1 << herd.hole));
                herds.number(board.herd(image(herd.cows), banned)) as u32
            });
            let images = images.collect();
            herds.images.push(images);
        }
        herds.classify();
        herds
    }

    fn classify(&mut self) {
        let symmetries = 0..self.images.len();
        let mut class_of = vec![0; self.all.len()];
        for herd in 0..self.all.len() {
            let least = symmetries.clone().map(|s| (self.images[s][herd], s as u8)).min();
            let (least, symmetry) = least.expect("there is the identity");
            if least as usize == herd {
                class_of[herd] = self.standing.len() as u32;
                let fixed = symmetries.clone().filter(|&s| self.images[s][herd] as usize == herd);
                self.standing.push((herd as u32, fixed.map(|s| s as u8).collect()));
            }
            // The least of the images came before.
            self.classes.push((class_of[least as usize], symmetry));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn classes(&self) -> usize {
        self.standing.len()
    }

    pub(super) fn herd(&self, number: usize) -> Herd {
        self.all[number]
    }

    #[inline]
    pub(super) fn number(&self, herd: Herd) -> usize {
        let rank: u32 = points(herd.cows).zip(&self.terms).map(|(point, terms)| terms[usize::from(point)]).sum();
        let mut number = self.first[rank as usize] as usize;
        while self.all[number] != herd {
            number += 1; // at most a few bans
        }
        number
    }

    /// The herds with the same cows, whatever the ban.
    pub(super) fn same_cows(&self, cows: u32) -> impl Iterator<Item = Herd> {
        let number = self.number(Herd::free(cows));
        self.all[number..].iter().copied().take_while(move |herd| herd.cows == cows)
    }

    /// The herd that stands for a class.
    pub(super) fn of_class(&self, class: usize) -> Herd {
        self.all[self.standing[class].0 as usize]
    }

    /// The class of a herd and the symmetry that leads to the one that stands for it.
    #[inline]
    pub(super) fn class(&self, number: usize) -> (usize, u8) {
        let (class, symmetry) = self.classes[number];
        (class as usize, symmetry)
    }

    /// The symmetries that leave the herd that stands for a class as it is.
    pub(super) fn fixing(&self, class: usize) -> &[u8] {
        &self.standing[class].1
    }

    #[inline]
    pub(super) fn image(&self, number: usize, symmetry: u8) -> usize {
        self.images[usize::from(symmetry)][number] as usize
    }
}

/// The points of a set in increasing order.
#[inline]
pub(super) fn points(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let point = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        point
    })
}
