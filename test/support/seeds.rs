//! Seeds of random tests.
use std::ops::Range;

/// Returns the seeds of `RFLY_SEED`: one, to reproduce a failure, or a range such as `2149..10000`, to continue a long run.
/// Without it, returns seeds from 0, as many as the environment variable `runs` says, or else `usual`.
pub fn seeds(runs: &str, usual: u64) -> Range<u64> {
    let given = |name: &str| std::env::var(name).ok();
    let number = |name: &str, text: &str| -> u64 {
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{name}={text}: not a number"))
    };
    let count = || given(runs).map_or(usual, |text| number(runs, &text));
    match given("RFLY_SEED") {
        None => 0..count(),
        Some(text) => match text.split_once("..") {
            Some((first, end)) => number("RFLY_SEED", first)..number("RFLY_SEED", end),
            None => {
                let seed = number("RFLY_SEED", &text);
                seed..seed + 1
            }
        },
    }
}
