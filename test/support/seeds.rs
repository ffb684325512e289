//! Seeds of tests that play the same with other numbers.
use std::ops::Range;

/// As many seeds as the environment variable `runs` says, else `usual`; or those of `RFLY_SEED`: one, to see a failure again,
/// or a range such as `2149..10000`, to go on where a long run was stopped.
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
