//! Finds the convention that measurements follow where the wire does not name it.

/// Number of lost rounds, with no round won in between, after which a convention is excluded.
const EXCLUDED_AFTER: u8 = 3;

/// Candidates of a convention, which measurements exclude one by one.
#[derive(Clone, Debug)]
pub struct ConventionFinder<C, const N: usize> {
    /// The first one is used until it is excluded.
    candidates: [C; N],
    /// The parameter; `None`: auto.
    configured: Option<C>,
    lost_rounds: [u8; N],
}

/// Result of the measurements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// No candidate is excluded.
    Unknown,
    /// Several candidates remain.
    Some,
    /// One candidate remains.
    Found,
    /// The configured one is excluded.
    Differs,
}

impl<C: Copy + PartialEq, const N: usize> ConventionFinder<C, N> {
    /// Creates a finder without measurements; `configured`: the parameter, whose value `auto` leaves the choice to the finder.
    pub fn new(candidates: [C; N], configured: C, auto: C) -> Self {
        let configured = (configured != auto).then_some(configured);
        Self { candidates, configured, lost_rounds: [0; N] }
    }

    /// Counts a round of measurements with a cost for each candidate, in their order; a candidate that is worse than the best by
    /// `margin` loses the round. If every remaining candidate loses, the simulator was replaced, and the best one is readmitted.
    pub fn add_round(&mut self, costs: [f64; N], margin: f64) {
        let best = (0..N).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let Some(best) = best.filter(|best| costs[*best].is_finite()) else { return };
        let loses: [bool; N] = costs.map(|cost| cost - costs[best] >= margin);
        let remains: [bool; N] = self.lost_rounds.map(|rounds| rounds < EXCLUDED_AFTER);
        let all_remaining_lose = (0..N).all(|i| !remains[i] || loses[i]);
        if loses.contains(&true) && (remains[best] || all_remaining_lose) {
            self.lost_rounds[best] = 0;
        }
        for (rounds, loses) in self.lost_rounds.iter_mut().zip(loses) {
            *rounds = (*rounds + u8::from(loses)).min(EXCLUDED_AFTER);
        }
    }

    /// Returns the candidates that are not excluded.
    pub fn remaining(&self) -> impl Iterator<Item = C> + '_ {
        let candidates = self.candidates.iter().zip(self.lost_rounds);
        candidates.filter(|(_, rounds)| *rounds < EXCLUDED_AFTER).map(|(c, _)| *c)
    }

    /// Returns the convention in use.
    pub fn in_use(&self) -> C {
        let found = || self.remaining().next().unwrap_or(self.candidates[0]);
        self.configured.unwrap_or_else(found)
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        let remaining = self.remaining().count();
        match self.configured {
            Some(given) if !self.remaining().any(|c| c == given) => Verdict::Differs,
            _ if remaining == N => Verdict::Unknown,
            _ if remaining == 1 => Verdict::Found,
            _ => Verdict::Some,
        }
    }

    /// Describes the result for the log and for `/diagnostics`.
    pub fn text(&self, name: impl Fn(C) -> &'static str) -> String {
        let in_use = name(self.in_use());
        let remaining: Vec<_> = self.remaining().map(&name).collect();
        let remaining = remaining.join(" or ");
        match (self.verdict(), self.configured.is_some()) {
            (Verdict::Differs, _) => format!("{in_use} configured, measurements fit {remaining}"),
            (Verdict::Unknown, true) => format!("{in_use}, as configured"),
            (Verdict::Unknown, false) => format!("{in_use}, not known yet"),
            (Verdict::Some, _) => format!("{in_use}, measurements fit {remaining}"),
            (Verdict::Found, true) => format!("{in_use}, as configured and measured"),
            (Verdict::Found, false) => format!("{in_use}, found"),
        }
    }
}
