//! The head, array and tail of big messages are the bytes of the whole message.
use super::samples::sample;
use proptest::prelude::*;
use rfly_bridge::{
    msgs::{
        sensor_msgs::msg::{CompressedImage, Image, PointCloud2, PointField},
        std_msgs::msg::Header,
    },
    ros::{CloudHead, CompressedHead, ImageHead, Middleware, Options, Outcome, Qos},
};

fn header() -> impl Strategy<Value = Header> {
    (0..30_000_u32, "[a-z/_0-9]{0,13}")
        .prop_map(|(seed, frame_id)| Header { frame_id, ..sample(seed) })
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..70)
}

proptest! {
    #[test]
    fn a_gathered_image_is_the_plain_cdr_of_the_image(
        header in header(), encoding in "[a-z0-9]{0,9}", data in bytes(), (height, width, step) in any::<(u32, u32, u32)>()
    ) {
        let (middleware, recorder) = Middleware::recorder(&Options::new("n")).unwrap();
        let head = ImageHead { header: &header, height, width, encoding: &encoding, step };
        let gathered = middleware.image("/gathered", Qos::IMAGE).unwrap();
        gathered.publish(&head, &data).unwrap();
        let mut loan = gathered.loan(data.len() + 3);
        loan.as_mut()[..data.len()].copy_from_slice(&data);
        gathered.publish_loan(&head, loan, data.len()).unwrap();
        let is_bigendian = 0;
        let plain = Image { header: header.clone(), height, width, encoding: encoding.clone(), is_bigendian, step, data: data.clone() };
        middleware.publisher::<Image>("/plain", Qos::IMAGE).unwrap().publish(&plain).unwrap();
        let plain_cdr = recorder.raw("/plain").remove(0);
        prop_assert_eq!(plain_cdr.len() % 4, 0);
        prop_assert_eq!(recorder.raw("/gathered"), vec![plain_cdr.clone(), plain_cdr], "copied and lent");
        prop_assert_eq!(recorder.messages::<Image>("/gathered").unwrap(), vec![plain.clone(), plain]);
    }

    #[test]
    fn a_gathered_compressed_image_is_the_plain_cdr(header in header(), format in "[a-z0-9; ]{0,9}", data in bytes()) {
        let (middleware, recorder) = Middleware::recorder(&Options::new("n")).unwrap();
        let head = CompressedHead { header: &header, format: &format };
        middleware.compressed("/gathered", Qos::IMAGE).unwrap().publish(&head, &data).unwrap();
        let plain = CompressedImage { header: header.clone(), format: format.clone(), data: data.clone() };
        middleware.publisher::<CompressedImage>("/plain", Qos::IMAGE).unwrap().publish(&plain).unwrap();
        prop_assert_eq!(recorder.raw("/gathered"), recorder.raw("/plain"));
        prop_assert_eq!(recorder.messages::<CompressedImage>("/gathered").unwrap(), vec![plain]);
    }

    #[test]
    fn a_gathered_cloud_is_the_plain_cdr(
        header in header(), names in proptest::collection::vec("[a-z]{1,5}", 0..5), data in bytes(),
        (height, width, point_step) in (any::<u32>(), 0..1000_u32, 0..1000_u32), is_dense in any::<bool>()
    ) {
        let fields: Vec<_> = names.iter().enumerate()
            .map(|(i, name)| PointField { name: name.clone(), ..sample(i as u32) })
            .collect();
        let (middleware, recorder) = Middleware::recorder(&Options::new("n")).unwrap();
        let head = CloudHead { header: &header, height, width, fields: &fields, point_step, is_dense };
        middleware.cloud("/gathered", Qos::IMAGE).unwrap().publish(&head, &data).unwrap();
        let (is_bigendian, row_step) = (false, point_step * width);
        let plain = PointCloud2 {
            header: header.clone(), height, width, fields: fields.clone(), is_bigendian, point_step, row_step,
            data: data.clone(), is_dense,
        };
        middleware.publisher::<PointCloud2>("/plain", Qos::IMAGE).unwrap().publish(&plain).unwrap();
        prop_assert_eq!(recorder.raw("/gathered"), recorder.raw("/plain"));
        prop_assert_eq!(recorder.messages::<PointCloud2>("/gathered").unwrap(), vec![plain]);
    }
}

#[test]
fn a_frame_that_was_overwritten_during_the_copy_is_counted_and_not_sent() {
    let (middleware, recorder) = Middleware::recorder(&Options::new("n")).unwrap();
    let image = middleware.image("/image", Qos::IMAGE).unwrap();
    let header = Header::default();
    let head = ImageHead { header: &header, height: 1, width: 1, encoding: "mono8", step: 1 };
    assert_eq!(image.publish_if(&head, &[9], &|| false).unwrap(), Outcome::Torn);
    assert_eq!(image.publish_if(&head, &[9], &|| true).unwrap(), Outcome::Sent);
    let stats = image.stats();
    assert_eq!((stats.published, stats.torn, recorder.raw("/image").len()), (1, 1, 1));
}
