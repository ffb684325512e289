//! Images and clouds as the workspace's type support lays them out.
use crate::ros::{Bytes, CloudView, CompressedView, ImageView};
use rclrs::rosidl_runtime_rs::{Sequence, String};
pub(in super::super) use ros_env::sensor_msgs::msg::rmw::{CompressedImage, Image, PointCloud2};
use ros_env::{sensor_msgs::msg::rmw::PointField, std_msgs::msg::rmw::Header};

pub(in super::super) fn image(view: &ImageView<'_>, to: &mut Image) {
    header(view.header, &mut to.header);
    to.height = view.height;
    to.width = view.width;
    text(view.encoding, &mut to.encoding);
    to.is_bigendian = 0;
    to.step = view.step;
    bytes(view.data, &mut to.data);
}

pub(in super::super) fn compressed(view: &CompressedView<'_>, to: &mut CompressedImage) {
    header(view.header, &mut to.header);
    text(view.format, &mut to.format);
    bytes(view.data.into(), &mut to.data);
}

pub(in super::super) fn cloud(view: &CloudView<'_>, to: &mut PointCloud2) {
    header(view.header, &mut to.header);
    to.height = view.height;
    to.width = view.width;
    let same = |have: &PointField, want: &crate::msgs::sensor_msgs::msg::PointField| {
        (have.offset, have.datatype, have.count) == (want.offset, want.datatype, want.count)
            && is(&have.name, &want.name)
    };
    let unchanged = to.fields.len() == view.fields.len()
        && to.fields.iter().zip(view.fields).all(|(h, w)| same(h, w));
    if !unchanged {
        to.fields = view
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
    to.point_step = view.point_step;
    to.row_step = view.point_step.wrapping_mul(view.width);
    to.is_dense = view.is_dense;
    bytes(view.data.into(), &mut to.data);
}

fn header(from: &crate::msgs::std_msgs::msg::Header, to: &mut Header) {
    to.stamp.sec = from.stamp.sec;
    to.stamp.nanosec = from.stamp.nanosec;
    text(&from.frame_id, &mut to.frame_id);
}

/// Writes a text that is the same from frame to frame.
fn text(from: &str, to: &mut String) {
    if !is(to, from) {
        *to = from.into();
    }
}

fn is(have: &String, want: &str) -> bool {
    have.iter().map(|c| c.cast_unsigned()).eq(want.bytes())
}

/// Copies once; allocates only when the size changes.
fn bytes(from: Bytes<'_>, to: &mut Sequence<u8>) {
    if to.len() != from.len() {
        *to = Sequence::new(from.len());
    }
    from.copy_to(to.as_mut_slice());
}
