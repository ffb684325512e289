//! Seeds of tests that play the same with other numbers.

/// So many seeds as the environment variable `runs` says, else `usual`; or the one of `RFLY_SEED`, to see a failure again.
pub fn seeds(runs: &str, usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| {
        let given = std::env::var(name).ok()?;
        let number = given.parse::<u64>();
        Some(number.unwrap_or_else(|_| panic!("{name} is a number")))
    };
    match number("RFLY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number(runs).unwrap_or(usual),
    }
}
