//! Tests of `noise`.
use rfly_bridge::noise::{Draws, Purpose, Walk};

const SECOND: i64 = 1_000_000_000;

fn first(draws: Draws, purpose: Purpose, time: i64) -> f64 {
    draws.at(purpose, time).normal()
}

#[test]
fn numbers_depend_on_seed_source_purpose_and_time_and_on_nothing_else() {
    let draws = Draws::new(7, 3);
    let number = first(draws, Purpose::Ranges, 5);
    let mut other = draws.at(Purpose::Ranges, 4);
    (0..100).for_each(|_| _ = other.unit());
    assert_eq!(number, first(Draws::new(7, 3), Purpose::Ranges, 5));
    for changed in [
        first(Draws::new(8, 3), Purpose::Ranges, 5),
        first(Draws::new(7, 4), Purpose::Ranges, 5),
        first(draws, Purpose::Gps, 5),
        first(draws, Purpose::Ranges, 6),
        first(draws, Purpose::Ranges, -5),
    ] {
        assert_ne!(number, changed);
    }
}

/// Draws at neighbouring times have nothing in common: mean, variance and correlation of the first number of each.
#[test]
fn the_first_numbers_of_neighbouring_times_are_independent() {
    let count = 20_000;
    let values: Vec<f64> =
        (0..count).map(|time| first(Draws::new(1, 1), Purpose::ImuNoise, time)).collect();
    let mean = |of: &dyn Fn(usize) -> f64| (1..values.len()).map(of).sum::<f64>() / count as f64;
    let bound = 4.0 / (count as f64).sqrt();
    assert!(mean(&|i| values[i]).abs() < bound);
    assert!((mean(&|i| values[i] * values[i]) - 1.0).abs() < bound * 2_f64.sqrt());
    assert!(mean(&|i| values[i] * values[i - 1]).abs() < bound);
    // Normal: 4.55 % beyond two standard deviations.
    let beyond = mean(&|i| f64::from(values[i].abs() > 2.0));
    assert!((beyond - 0.0455).abs() < 0.006, "{beyond}");
}

#[test]
fn a_walk_is_the_same_whatever_was_asked_before() {
    let walk = || Walk::<2>::new(Draws::new(5, 1), Purpose::ImuWalk);
    let mut in_order = walk();
    let times: Vec<i64> = (0..200).map(|i| i * 4_999_999).collect();
    let values: Vec<_> = times.iter().map(|time| in_order.at(*time)).collect();
    let mut backwards = walk();
    for (time, value) in times.iter().zip(&values).rev().step_by(3) {
        assert_eq!(backwards.at(*time), *value, "at {time} ns");
    }
    assert_ne!(values[100][0], values[100][1], "axes are independent");
}

/// Of many walks: the variance is the time in s, increments are independent, also across the middle of an interval.
#[test]
fn the_variance_of_a_walk_grows_by_one_per_second() {
    let count = 4000;
    let (near, middle, far) = (SECOND / 100, 40 * SECOND, 100 * SECOND);
    let mut sums = [0.0; 4];
    for seed in 0..count {
        let mut walk = Walk::<1>::new(Draws::new(seed, 1), Purpose::ImuWalk);
        let [a] = walk.at(middle);
        let [b] = walk.at(middle + near);
        let [c] = walk.at(far);
        let products = [a * a / 40.0, (b - a).powi(2) / 0.01, c * c / 100.0, (c - a) * a / 40.0];
        sums.iter_mut().zip(products).for_each(|(sum, x)| *sum += x);
    }
    let [at_40, step, at_100, across] = sums.map(|sum| sum / count as f64);
    // Four standard errors of a variance, sqrt(2 / n).
    for found in [at_40, step, at_100] {
        assert!((found - 1.0).abs() < 0.09, "{at_40} {step} {at_100}");
    }
    assert!(across.abs() < 0.08, "{across}");
}

#[test]
fn a_walk_begins_at_zero_and_is_finite_at_any_time() {
    let mut walk = Walk::<3>::new(Draws::new(5, 1), Purpose::ImuWalk);
    assert_eq!(walk.at(-SECOND), walk.at(0));
    assert!(walk.at(0).iter().all(|v| v.abs() < 1e-9));
    assert!(walk.at(i64::MAX).iter().all(|v| v.is_finite()));
}
