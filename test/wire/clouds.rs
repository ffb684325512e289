//! The two forms of a cloud payload, told apart by length.
use crate::support::float_cloud::float_cloud;
use crate::support::golden::load;
use rfly_bridge::wire::{CloudPayload, FloatCloudHeader, append_cloud, append_float_cloud};

const POSE: [f32; 6] = [10.0, -20.0, -3.0, 0.1, -0.2, 1.5];
const POINTS: [[f32; 4]; 3] = [
    [1.5, -2.5, 0.25, 7.0],
    [0.0, 0.0, 0.0, 0.0],
    [1e3, 2.0, 3.0, 90.0],
];

fn short(count: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    append_cloud(POSE, vec![[100i16, 200, 300, 0]; count], &mut payload);
    payload
}

/// The form that is recognised, with its number of points.
fn form(cloud: Option<CloudPayload<'_, 4>>) -> (&'static str, usize) {
    match cloud {
        Some(CloudPayload::Short(cloud)) => ("i16", cloud.points().len()),
        Some(CloudPayload::Float(cloud)) => ("f32", cloud.points().len()),
        None => ("none", 0),
    }
}

#[test]
fn a_cloud_with_f32_points_is_read_and_written_as_its_table_says() {
    let bytes = float_cloud([3, 1], POSE, &POINTS);
    let Some(CloudPayload::<4>::Float(cloud)) = CloudPayload::parse(&bytes) else {
        panic!("not the f32 form")
    };
    let header = cloud.header();
    assert_eq!((header.copter_id.get(), header.axis_type.get()), (3, 1));
    assert_eq!(header.pose.map(|x| x.get()), POSE);
    let points: Vec<_> = cloud.points().iter().map(|p| p.map(|x| x.get())).collect();
    assert_eq!(points, POINTS);
    let mut written = vec![0xAA];
    append_float_cloud(&FloatCloudHeader::new(3, 1, POSE, 0), POINTS, &mut written);
    assert_eq!(written[1..], bytes);
}

#[test]
fn the_length_tells_the_forms_apart() {
    for count in [0, 1, 2, 100] {
        assert_eq!(form(CloudPayload::parse(&short(count))), ("i16", count));
        let float = float_cloud([1, 0], POSE, &vec![POINTS[0]; count]);
        assert_eq!(form(CloudPayload::parse(&float)), ("f32", count));
        for wrong in [&short(count)[..27], &float[..float.len() - 1]] {
            assert_eq!(form(CloudPayload::parse(wrong)), ("none", 0));
        }
        let mut long = float;
        long.push(0);
        assert_eq!(form(CloudPayload::parse(&long)), ("none", 0));
        // A recorded client ignores what is behind i16 points.
        let mut long = short(count);
        long.push(0);
        let found = if count > 0 {
            ("i16", count)
        } else {
            ("none", 0)
        };
        assert_eq!(form(CloudPayload::parse(&long)), found);
    }
    let mut three = Vec::new();
    append_cloud(POSE, [[1i16, 2, 3]; 5], &mut three);
    assert!(matches!(
        CloudPayload::<3>::parse(&three),
        Some(CloudPayload::Short(cloud)) if cloud.points().len() == 5
    ));
    assert_eq!(form(CloudPayload::parse(&three)), ("none", 0));
}

#[test]
fn a_payload_that_fits_both_lengths_is_the_older_form() {
    // 5 points of 8 bytes are as long as 2 points of 16 bytes behind a header that is 8 bytes longer.
    let mut payload = Vec::new();
    let mut points = [[0i16; 4]; 5];
    points[0] = [9, 9, 2, 0]; // the bytes of the count in the f32 form: 2
    append_cloud([0.0; 6], points, &mut payload);
    assert_eq!(payload.len(), 28 + 8 * 5);
    assert_eq!(payload.len(), 36 + 16 * 2);
    assert_eq!(payload[32..36], 2_i32.to_le_bytes());
    assert_eq!(form(CloudPayload::parse(&payload)), ("i16", 5));
}

#[test]
fn a_pitch_of_zero_or_any_sign_is_no_count() {
    for pitch in [0.0, -0.0, 0.3, -0.3, f32::NAN, f32::MIN_POSITIVE] {
        let mut pose = POSE;
        pose[4] = pitch;
        let payload = float_cloud([1, 0], pose, &POINTS);
        assert_eq!(form(CloudPayload::parse(&payload)), ("f32", 3), "{pitch}");
    }
}

/// A block of shared memory is longer than the cloud in it.
#[test]
fn in_a_block_the_form_is_the_one_that_fits() {
    let in_block = |payload: &[u8]| {
        let mut block = vec![0x55; 36 + 16 * 200];
        block[..payload.len()].copy_from_slice(payload);
        form(CloudPayload::parse_block(&block))
    };
    for count in [0, 1, 5, 100] {
        assert_eq!(in_block(&short(count)), ("i16", count));
    }
    for pitch in [0.0, -0.0, 0.3, -0.3] {
        for count in [0, 1, 200] {
            let mut pose = POSE;
            pose[4] = pitch;
            let payload = float_cloud([1, 0], pose, &vec![POINTS[0]; count]);
            assert_eq!(in_block(&payload), ("f32", count), "{pitch} {count}");
        }
    }
    // Nothing seen at the origin, and what an earlier frame left behind.
    let mut nothing = short(3);
    nothing[..28].fill(0);
    nothing[32..36].copy_from_slice(&3_i32.to_le_bytes());
    assert_eq!(in_block(&nothing), ("i16", 0));
    assert_eq!(form(CloudPayload::parse_block(&[0xFF; 400])), ("none", 0));
}

#[test]
fn every_recorded_block_with_a_cloud_has_i16_points() {
    let mut clouds = 0;
    for vector in load("recv_shm") {
        let region = vector.input_region();
        let found = match vector["args"]["TypeID"].as_u64() {
            Some(7) => match CloudPayload::<3>::parse_block(&region[9..]) {
                Some(CloudPayload::Short(cloud)) => cloud.points().len(),
                other => panic!("{}: {other:?}", vector.name()),
            },
            Some(20..=23) => match CloudPayload::<4>::parse_block(&region[9..]) {
                Some(CloudPayload::Short(cloud)) => cloud.points().len(),
                other => panic!("{}: {other:?}", vector.name()),
            },
            _ => continue,
        };
        assert!(found > 0, "{}", vector.name());
        clouds += 1;
    }
    assert_eq!(clouds, 5);
}
