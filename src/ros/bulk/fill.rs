//! Images and clouds in the layout of the workspace's type support.
use super::{CloudHead, CompressedHead, ImageHead};
use rclrs::rosidl_runtime_rs::String;
pub(super) use ros_env::sensor_msgs::msg::rmw::{CompressedImage, Image, PointCloud2};
use ros_env::{sensor_msgs::msg::rmw::PointField, std_msgs::msg::rmw::Header};

pub(super) fn image(head: &ImageHead<'_>, to: &mut Image) {
    header(head.header, &mut to.header);
    to.height = head.height;
    to.width = head.width;
    text(head.encoding, &mut to.encoding);
    to.is_bigendian = 0;
    to.step = head.step;
}

pub(super) fn compressed(head: &CompressedHead<'_>, to: &mut CompressedImage) {
    header(head.header, &mut to.header);
    text(head.format, &mut to.format);
}

pub(super) fn cloud(head: &CloudHead<'_>, to: &mut PointCloud2) {
    header(head.header, &mut to.header);
    to.height = head.height;
    to.width = head.width;
    let same = |have: &PointField, want: &crate::msgs::sensor_msgs::msg::PointField| {
        (have.offset, have.datatype, have.count) == (want.offset, want.datatype, want.count)
            && is_equal(&have.name, &want.name)
    };
    let unchanged = to.fields.len() == head.fields.len()
        && to.fields.iter().zip(head.fields).all(|(h, w)| same(h, w));
    if !unchanged {
        to.fields = head
            .fields
            .iter()
            .map(|field| PointField {
                name: field.name.as_str().into(),
                offset: field.offset,
                datatype: field.datatype,
                count: field.count,
            })
            .collect();
    }
    to.is_bigendian = false;
    to.point_step = head.point_step;
    to.row_step = head.point_step.wrapping_mul(head.width);
    to.is_dense = head.is_dense;
}

fn header(from: &crate::msgs::std_msgs::msg::Header, to: &mut Header) {
    to.stamp.sec = from.stamp.sec;
    to.stamp.nanosec = from.stamp.nanosec;
    text(&from.frame_id, &mut to.frame_id);
}

/// Copies a string; allocates only if it has changed.
fn text(from: &str, to: &mut String) {
    if !is_equal(to, from) {
        *to = from.into();
    }
}

fn is_equal(have: &String, want: &str) -> bool {
    have.iter().map(|c| c.cast_unsigned()).eq(want.bytes())
}
