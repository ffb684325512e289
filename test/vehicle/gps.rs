//! The satellite receiver: noise against the parameters.
use super::ground_truth::{eastbound, recorded};
use rfly_bridge::{
    config::params::DegradeParams,
    frames::{Geoid, Separation},
    msgs::sensor_msgs::msg::NavSatFix,
    noise::Draws,
    ros::{Middleware, Options, Qos},
    time::RosTime,
    vehicle::{GpsReceiver, noisy_fix},
    wire::TrueState,
};

const SECOND: i64 = 1_000_000_000;

/// East, north and up by the radii of curvature of WGS 84 (not by the conversions of the bridge).
#[test]
fn the_receivers_fix_has_the_noise_and_covariance_of_the_parameters() {
    let (sigma, at): ([f64; 3], [f64; 3]) = ([1.5, 0.5, 3.0], [40.0, 116.0, 50.0]);
    let draws = Draws::new(3, 1);
    let fix = |draws, tick: u32| {
        let state = TrueState { gps: at, sim_time: f64::from(tick) * 0.01, ..TrueState::default() };
        let mut geoid = Separation::new(Geoid::Constant(17.0));
        noisy_fix(&state, &mut geoid, (draws, sigma), RosTime(SECOND)).unwrap()
    };
    let (a, e2) = (6_378_137.0_f64, 6.694_379_990_14e-3_f64);
    let sine = at[0].to_radians().sin();
    let w = (1.0 - e2 * sine * sine).sqrt();
    let height = at[2] + 17.0;
    let (meridian, normal) = (a * (1.0 - e2) / w.powi(3) + height, a / w + height);
    let count = 5000;
    let mut squares = [0.0; 3];
    for tick in 0..count {
        let fix = fix(draws, tick);
        let errors = [
            (fix.longitude - at[1]).to_radians() * normal * at[0].to_radians().cos(),
            (fix.latitude - at[0]).to_radians() * meridian,
            fix.altitude - height,
        ];
        squares.iter_mut().zip(errors).for_each(|(sum, e)| *sum += e * e);
    }
    for (sum, sigma) in squares.iter().zip(sigma) {
        let found = (sum / f64::from(count)).sqrt();
        assert!((found / sigma - 1.0).abs() < 0.05, "{found}, not {sigma}");
    }
    let first = fix(draws, 7);
    assert_eq!(first, fix(draws, 7), "the same data, the same noise");
    assert_ne!(first.latitude, fix(Draws::new(4, 1), 7).latitude);
    assert_eq!(first.position_covariance, [2.25, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 9.0]);
    assert_eq!(first.position_covariance_type, 2);
    assert_eq!(first.header.stamp.sec, 1);
}

#[test]
fn the_receiver_has_a_topic_only_with_noise_and_the_truth_stays_true() {
    let (truth, recorder) = recorded();
    let (middleware, other) = Middleware::recorder(&Options::new("test")).unwrap();
    let open = |params: &DegradeParams| {
        GpsReceiver::open(params, 1, |topic| middleware.publisher(topic.name, Qos::DEFAULT))
            .unwrap()
    };
    assert!(open(&DegradeParams::default()).is_none());
    let params = DegradeParams { gps_noise_m: [1.0; 3], ..DegradeParams::default() };
    let mut truth = truth.with_receiver(open(&params));
    recorder.set_all_subscribers(1);
    assert!(truth.is_read());
    other.set_all_subscribers(1);
    let (state, pose) = eastbound();
    let state = TrueState { gps: [40.0, 116.0, 50.0], ..state };
    truth.publish(&state, &pose, RosTime(SECOND)).unwrap();
    let [fix]: [NavSatFix; 1] = other.messages("/gps").unwrap().try_into().unwrap();
    let [exact]: [NavSatFix; 1] = recorder.messages("/gps").unwrap().try_into().unwrap();
    assert_eq!(fix.header, exact.header);
    assert_eq!((exact.latitude, exact.longitude), (40.0, 116.0));
    let far = (fix.latitude - 40.0).abs();
    assert!(0.0 < far && far < 1e-4, "{far}");
}
