//! Which of some conventions the measurements follow, where nothing on the wire says so.

/// Rounds in which a convention has to be clearly worse than the best one before it is excluded.
const ROUNDS: u8 = 3;

/// A choice between conventions, of which measurements exclude all but one, or those that read the same.
#[derive(Clone, Debug)]
pub struct Ballot<C, const N: usize> {
    /// The first one is in use until it is excluded.
    candidates: [C; N],
    /// As the user says; `None`: as is found.
    given: Option<C>,
    against: [u8; N],
}

/// What is known of a convention.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Nothing was excluded.
    Unknown,
    /// More than one is left.
    Some,
    /// One is left.
    Found,
    /// What the user says is excluded.
    Differs,
}

impl<C: Copy + PartialEq, const N: usize> Ballot<C, N> {
    /// No measurement yet.
    pub fn new(candidates: [C; N], given: Option<C>) -> Self {
        Self { candidates, given, against: [0; N] }
    }

    /// Counts a round of measurements that has a cost for each candidate, in their order; one that is worse than the best by
    /// `margin` loses the round. If every candidate that is left loses, the simulator is another one, and the best returns.
    pub fn round(&mut self, costs: [f64; N], margin: f64) {
        let best = (0..N).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let Some(best) = best.filter(|best| costs[*best].is_finite()) else {
            return;
        };
        let loses: [bool; N] = costs.map(|cost| cost - costs[best] >= margin);
        let is_left: [bool; N] = self.against.map(|rounds| rounds < ROUNDS);
        let none_left_holds = (0..N).all(|i| !is_left[i] || loses[i]);
        if loses.contains(&true) && (is_left[best] || none_left_holds) {
            self.against[best] = 0;
        }
        for (rounds, loses) in self.against.iter_mut().zip(loses) {
            *rounds = (*rounds + u8::from(loses)).min(ROUNDS);
        }
    }

    /// Returns the candidates that are left.
    pub fn left(&self) -> impl Iterator<Item = C> + '_ {
        let left = self.candidates.iter().zip(self.against);
        left.filter(|(_, rounds)| *rounds < ROUNDS).map(|(c, _)| *c)
    }

    /// Returns the convention to read by.
    pub fn in_use(&self) -> C {
        let found = || self.left().next().unwrap_or(self.candidates[0]);
        self.given.unwrap_or_else(found)
    }

    /// Returns what is known.
    pub fn verdict(&self) -> Verdict {
        let left = self.left().count();
        match self.given {
            Some(given) if !self.left().any(|c| c == given) => Verdict::Differs,
            _ if left == N => Verdict::Unknown,
            _ if left == 1 => Verdict::Found,
            _ => Verdict::Some,
        }
    }

    /// Describes it for the log and for `/diagnostics`, as `doctor` reads it.
    pub fn text(&self, name: impl Fn(C) -> &'static str) -> String {
        let in_use = name(self.in_use());
        let left: Vec<_> = self.left().map(&name).collect();
        let left = left.join(" or ");
        match (self.verdict(), self.given.is_some()) {
            (Verdict::Differs, _) => format!("differs: {left} seen, {in_use} given"),
            (Verdict::Unknown, true) => format!("{in_use}, as given"),
            (Verdict::Unknown, false) => format!("{in_use}, not told yet"),
            (Verdict::Some, _) => format!("{in_use}, {left} seen"),
            (Verdict::Found, true) => format!("{in_use}, as given and seen"),
            (Verdict::Found, false) => format!("{in_use}, found"),
        }
    }
}
