//! The forms of a cloud payload, told apart by its length and its count of points.
use crate::support::cloud_payload::{cloud_payload, float_cloud, floats, shorts};
use crate::support::golden::load;
use proptest::prelude::*;
use rfly_bridge::wire::{
    CloudHead, CloudShape, CloudView, OdometryCloudHeader, PointForm, append_cloud,
};

const POSE: [f32; 6] = [10.0, -20.0, -3.0, 0.1, -0.2, 1.5];
const POINTS: [[f32; 4]; 3] = [[1.5, -2.5, 0.25, 7.0], [0.0, 0.0, 0.0, 0.0], [1e3, 2.0, 3.0, 90.0]];
const OLDEST: [PointForm; 2] = [PointForm::I16x3, PointForm::I16x4];

fn short(count: usize) -> Vec<u8> {
    cloud_payload(None, POSE, PointForm::I16x4, &vec![[100.0, 200.0, 300.0, 0.0]; count])
}

/// The form that is recognised: bytes of the head, of a point, and number of points.
fn form(cloud: Option<CloudView<'_>>) -> Option<(usize, usize, usize)> {
    cloud.map(|cloud| {
        let head = cloud.head.as_bytes().len();
        (head, cloud.points.form().bytes(), cloud.points.len())
    })
}

fn parse(payload: &[u8]) -> Option<(usize, usize, usize)> {
    form(CloudView::parse(payload, PointForm::I16x4))
}

/// The points as their form keeps them.
fn kept(points: &[[f32; 4]], form: PointForm) -> Vec<Vec<f32>> {
    let numbers = if form.has_fourth() { 4 } else { 3 };
    let metres = matches!(form, PointForm::F32x3 | PointForm::F32x4);
    let keep = |n: &f32| if metres { *n } else { f32::from(*n as i16) };
    points.iter().map(|point| point[..numbers].iter().map(keep).collect()).collect()
}

fn found(cloud: &CloudView<'_>) -> Vec<Vec<f32>> {
    let rows = |row: &[i16]| row.iter().map(|n| f32::from(*n)).collect();
    match cloud.points.form() {
        PointForm::I16x3 => shorts::<3>(cloud).iter().map(|p| rows(p)).collect(),
        PointForm::I16x4 => shorts::<4>(cloud).iter().map(|p| rows(p)).collect(),
        PointForm::F32x3 => floats::<3>(cloud).iter().map(|p| p.to_vec()).collect(),
        PointForm::F32x4 => floats::<4>(cloud).iter().map(|p| p.to_vec()).collect(),
    }
}

#[test]
fn a_cloud_with_f32_points_is_read_and_written_as_its_table_says() {
    let bytes = float_cloud([3, 1], POSE, &POINTS);
    let cloud = CloudView::parse(&bytes, PointForm::I16x4).unwrap();
    let CloudHead::Odometry(header) = cloud.head else { panic!("no odometry") };
    assert_eq!((header.copter_id.get(), header.axis_type.get()), (3, 1));
    assert_eq!(header.pose.map(|x| x.get()), POSE);
    assert_eq!(floats::<4>(&cloud), POINTS);
    let mut written = vec![0xAA];
    append_cloud(OdometryCloudHeader::new(3, 1, POSE, 0), POINTS, &mut written);
    assert_eq!(written[1..], bytes);
}

#[test]
fn the_length_tells_the_forms_apart() {
    for count in [0, 1, 2, 100] {
        assert_eq!(parse(&short(count)), Some((28, 8, count)));
        let float = float_cloud([1, 0], POSE, &vec![POINTS[0]; count]);
        assert_eq!(parse(&float).map(|form| (form.0, form.2)), Some((36, count)));
        for wrong in [&short(count)[..27], &float[..float.len() - 1]] {
            assert_eq!(parse(wrong), None);
        }
        let mut long = float;
        long.push(0);
        assert_eq!(parse(&long), None);
        // A recorded client ignores what is behind i16 points.
        let mut long = short(count);
        long.push(0);
        assert_eq!(parse(&long), (count > 0).then_some((28, 8, count)));
    }
}

#[test]
fn f32_points_behind_the_short_head_are_no_i16_points_with_a_surplus() {
    for points in [PointForm::F32x3, PointForm::F32x4] {
        let payload = cloud_payload(None, POSE, points, &POINTS);
        for oldest in OLDEST {
            let cloud = CloudView::parse(&payload, oldest).unwrap();
            assert_eq!(found(&cloud), kept(&POINTS, points));
        }
        // Half a point more, and it is nothing that is known.
        let odd = [payload.as_slice(), &[0; 8]].concat();
        assert_eq!(CloudView::parse(&odd, PointForm::I16x4), None);
    }
}

#[test]
fn a_payload_that_fits_both_heads_is_the_older_one_unless_it_begins_with_a_vehicle() {
    // 5 points of 8 bytes are as long as 2 points of 16 bytes behind a header that is 8 bytes longer.
    let mut payload = Vec::new();
    let mut points = [[0i16; 4]; 5];
    points[0] = [9, 9, 2, 0]; // the bytes of the count in the f32 form: 2
    append_cloud([0.0; 6], points, &mut payload);
    assert_eq!(payload.len(), 28 + 8 * 5);
    assert_eq!(payload.len(), 36 + 16 * 2);
    assert_eq!(payload[32..36], 2_i32.to_le_bytes());
    assert_eq!(parse(&payload), Some((28, 8, 5)));
    // Either reading has a number no simulator sends: a pitch of 7e-45 rad, or an x of 1e-45 m.
    payload[..4].copy_from_slice(&1_i32.to_le_bytes());
    assert_eq!(parse(&payload), None);
}

#[test]
fn a_pitch_of_zero_or_any_sign_is_no_count() {
    for pitch in [0.0, -0.0, 0.3, -0.3, f32::NAN, f32::MIN_POSITIVE] {
        let mut pose = POSE;
        pose[4] = pitch;
        for points in PointForm::ALL {
            let payload = cloud_payload(Some([1, 0]), pose, points, &POINTS);
            assert_eq!(parse(&payload), Some((36, points.bytes(), 3)), "{pitch}");
        }
    }
}

/// A block of shared memory is longer than the cloud in it.
#[test]
fn in_a_block_the_form_is_the_one_that_fits() {
    let in_block = |payload: &[u8]| {
        let mut block = vec![0x55; 36 + 16 * 200];
        block[..payload.len()].copy_from_slice(payload);
        form(CloudView::parse_block(&block, 200, PointForm::I16x4))
    };
    for count in [0, 1, 5, 100] {
        assert_eq!(in_block(&short(count)), Some((28, 8, count)));
    }
    for pitch in [0.0, -0.0, 0.3, -0.3] {
        for count in [0, 1, 200] {
            let mut pose = POSE;
            pose[4] = pitch;
            let payload = float_cloud([1, 0], pose, &vec![POINTS[0]; count]);
            assert_eq!(in_block(&payload), Some((36, 16, count)), "{pitch} {count}");
        }
    }
    // Nothing seen at the origin, and what an earlier frame left behind.
    let mut nothing = short(3);
    nothing[..28].fill(0);
    nothing[32..36].copy_from_slice(&3_i32.to_le_bytes());
    assert_eq!(in_block(&nothing), Some((28, 8, 0)));
    let noise = [0xFF; 400];
    assert_eq!(form(CloudView::parse_block(&noise, 20, PointForm::I16x4)), None);
}

#[test]
fn every_recorded_block_with_a_cloud_has_i16_points() {
    let mut clouds = 0;
    for vector in load("recv_shm") {
        let region = vector.input_region();
        let int = |name: &str| vector["args"][name].as_u64().unwrap() as usize;
        let (most, oldest) = match int("TypeID") {
            7 => (int("DataWidth") * int("DataHeight"), PointForm::I16x3),
            20..=22 => (int("DataWidth") * int("DataHeight"), PointForm::I16x4),
            23 => (17_408, PointForm::I16x4),
            _ => continue,
        };
        let cloud = CloudView::parse_block(&region[9..], most, oldest);
        let cloud = cloud.unwrap_or_else(|| panic!("{}", vector.name()));
        assert_eq!(cloud.points.form(), oldest, "{}", vector.name());
        assert!(!cloud.points.is_empty(), "{}", vector.name());
        clouds += 1;
    }
    assert_eq!(clouds, 5);
}

#[test]
fn a_payload_that_is_no_cloud_says_what_it_could_be_asked_about() {
    let mut payload = short(2);
    payload.extend([1; 9]);
    assert_eq!(parse(&payload), None);
    let shape = CloudShape::of(&payload).to_string();
    assert_eq!(shape, "53 bytes, 2 at offset 24, 300 at offset 32");
    let shape = CloudShape::of(&payload[..30]).to_string();
    assert_eq!(shape, "30 bytes, 2 at offset 24, nothing at offset 32");
}

/// What a simulator can mean: 0 and normal numbers.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![Just(0.0f32), Just(-0.0f32), -1e4f32..1e4, -4.0f32..4.0]
        .prop_filter("no simulator sends denormal numbers", |x| *x == 0.0 || x.is_normal())
}

/// Copter and axis type of a head of 36 bytes, pose, form of the points, points.
type Built = (Option<[i32; 2]>, [f32; 6], PointForm, Vec<[f32; 4]>);

fn payload() -> impl Strategy<Value = Built> {
    let odometry = prop::option::of((-1..70_000i32, -1..3i32).prop_map(|(id, axes)| [id, axes]));
    let point =
        prop::array::uniform4(prop_oneof![Just(0.0f32), -32_768.0f32..32_767.0, 0.0f32..300.0]);
    let form = prop::sample::select(&PointForm::ALL[..]);
    let points = prop::collection::vec(point, 0..300usize);
    (odometry, prop::array::uniform6(number()), form, points)
}

/// Every head and point form that a payload has exactly the length of, by the tables alone.
fn fits(payload: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut fits = Vec::new();
    for (head, at) in [(28, 24), (36, 32)] {
        let Some(count) = payload.get(at..at + 4) else {
            continue;
        };
        let count = i64::from(i32::from_le_bytes(count.try_into().unwrap()));
        for len in [6, 8, 12, 16] {
            if count >= 0 && head as i64 + len as i64 * count == payload.len() as i64 {
                fits.push((head, len, count as usize));
            }
        }
    }
    fits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_payload_is_read_as_what_it_is(
        (odometry, pose, points, coordinates) in payload(),
        oldest in prop::sample::select(&OLDEST[..]),
    ) {
        let payload = cloud_payload(odometry, pose, points, &coordinates);
        let cloud = CloudView::parse(&payload, oldest);
        prop_assert!(cloud.is_some(), "refused: {:?}", fits(&payload));
        let cloud = cloud.unwrap();
        prop_assert_eq!(matches!(cloud.head, CloudHead::Odometry(_)), odometry.is_some());
        prop_assert_eq!(cloud.head.pose().map(f32::to_bits), pose.map(f32::to_bits));
        if !coordinates.is_empty() {
            prop_assert_eq!(cloud.points.form(), points);
        }
        prop_assert_eq!(found(&cloud), kept(&coordinates, points));
    }

    #[test]
    fn a_payload_of_another_length_is_refused_or_read_as_a_length_that_fits(
        (odometry, pose, points, coordinates) in payload(),
        oldest in prop::sample::select(&OLDEST[..]),
        change in -40isize..40,
        bytes in prop::collection::vec(any::<u8>(), 40),
    ) {
        let mut payload = cloud_payload(odometry, pose, points, &coordinates);
        let len = payload.len().saturating_add_signed(change);
        payload.extend(bytes);
        payload.truncate(len);
        let fits = fits(&payload);
        match form(CloudView::parse(&payload, oldest)) {
            None => prop_assert!(fits.is_empty() || fits.iter().any(|f| f.0 == 28) && fits.iter().any(|f| f.0 == 36)),
            Some(found) if fits.is_empty() => {
                // Less than a point behind the points of the oldest simulators.
                let surplus = payload.len() - found.0 - found.1 * found.2;
                prop_assert!((found.0, found.1) == (28, oldest.bytes()) && surplus < oldest.bytes() && found.2 > 0);
            }
            Some((head, _, 0)) => prop_assert!(fits.iter().any(|f| (f.0, f.2) == (head, 0))),
            Some(found) => prop_assert!(fits.contains(&found), "{found:?} of {fits:?}"),
        }
    }

    #[test]
    fn every_cloud_in_a_block_of_its_form_is_read_as_what_it_is(
        (odometry, pose, points, mut coordinates) in payload(),
        oldest in prop::sample::select(&OLDEST[..]),
        full: bool,
        left_behind: u8,
    ) {
        let most = 300;
        if full {
            coordinates.resize(most, [1.0, 2.0, 3.0, 4.0]);
        }
        let payload = cloud_payload(odometry, pose, points, &coordinates);
        let head = if odometry.is_some() { 36 } else { 28 };
        let mut block = vec![left_behind; head + points.bytes() * most];
        block[..payload.len()].copy_from_slice(&payload);
        // A pitch of exactly 0 reads as the count of an empty cloud, which only the vehicle's number or a full block contradicts.
        prop_assume!(full || odometry.is_none_or(|[id, _]| (1..65_536).contains(&id)) || pose[4] != 0.0);
        let cloud = CloudView::parse_block(&block, most, oldest).unwrap();
        prop_assert_eq!(matches!(cloud.head, CloudHead::Odometry(_)), odometry.is_some());
        prop_assert_eq!(found(&cloud), kept(&coordinates, points));
    }
}
