//! Colour and grey images: types 1, 3, 4, 8, 9, 40 and 41.
use super::{
    CameraView, Codec, Decoder, FrameHead, FrameKind, FramePayload, Layout, Lens, Sensor,
    SensorError, SensorSpec, Size, TopicSpec, camera_info::InfoTopic, pixels, shape::ImageGuard,
    spec::Topics,
};
use crate::{
    config::params::{QosGroup, RgbEncoding},
    msgs::{sensor_msgs::msg::Image, std_msgs::msg::Header},
    ros::{
        CompressedHead, CompressedPublisher, ImageHead, ImagePublisher, Loan, Outcome, RosError,
    },
    session::LOAN_SPARE,
    wire::{FISHEYE_FACTOR, SensorKind},
};

/// The topic of `camera_info`, the same for every camera.
pub(super) const INFO_TOPIC: TopicSpec = TopicSpec::new(
    QosGroup::CameraInfo,
    InfoTopic::SUFFIX,
    "sensor_msgs/msg/CameraInfo",
    FrameKind::Optical,
    "calibration, same stamp and frame as the image",
);

pub(super) const fn image_topic(suffix: &'static str, doc: &'static str) -> TopicSpec {
    TopicSpec::new(QosGroup::Image, suffix, "sensor_msgs/msg/Image", FrameKind::Optical, doc)
}

pub(super) const fn compressed_topic(suffix: &'static str, doc: &'static str) -> TopicSpec {
    let interface = "sensor_msgs/msg/CompressedImage";
    let topic = TopicSpec::new(QosGroup::Compressed, suffix, interface, FrameKind::Optical, doc);
    TopicSpec { compressed_only: true, ..topic }
}

const FISHEYE_LENS: Lens = Lens::Fisheye { factor: FISHEYE_FACTOR };

macro_rules! cameras {
    ($($name:ident, $kind:ident, $key:literal, $suffix:literal, $layout:ident, $lens:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub(super) const $name: SensorSpec = SensorSpec {
            kind: SensorKind::$kind,
            name: $key,
            topics: &[
                image_topic($suffix, encoding_doc(Layout::$layout)),
                compressed_topic(concat!($suffix, "/compressed"), "the simulator's PNG or JPEG, untouched"),
                INFO_TOPIC,
            ],
            open: |topics| CameraSensor::open(topics, Layout::$layout, $lens),
        };
    )*};
}

cameras! {
    RGB, Rgb, "rgb", "img_rgb", Bgr8, Lens::Pinhole, "RGB camera";
    GREY, Grey, "grey", "img_gray", Mono8, Lens::Pinhole, "grey camera";
    SEGMENTATION, Segmentation, "segmentation", "img_Segmentation", Bgr8, Lens::Pinhole,
        "segmentation camera; colours follow the stencil values of the objects";
    FISHEYE, Fisheye, "fisheye", "fisheye", Bgr8, FISHEYE_LENS, "fisheye camera";
    POD, Pod, "pod", "img_cine", Bgr8, Lens::Pinhole, "gimballed pod camera";
    INFRARED_GREY, Infrared, "infrared_grey", "img_Infrared_Gray", Mono8, Lens::Pinhole, "infrared camera, grey";
    INFRARED, Thermal, "infrared", "img_Infrared", Bgr8, Lens::Pinhole, "thermal camera, false colour";
}

/// Describes the encoding of images whose raw payload has this layout.
const fn encoding_doc(raw: Layout) -> &'static str {
    match raw {
        Layout::Bgr8 | Layout::Rgb8 => "bgr8, or rgb8 by parameter",
        Layout::Mono8 => "mono8",
    }
}

struct CameraSensor {
    image: ImagePublisher,
    compressed: Option<CompressedPublisher>,
    info: InfoTopic,
    header: Header,
    /// Layout of raw payloads.
    raw: Layout,
    /// Published layout.
    layout: Layout,
    guard: ImageGuard,
    decoder: Decoder,
}

impl CameraSensor {
    fn open(topics: &Topics<'_>, raw: Layout, lens: Lens) -> Result<Box<dyn Sensor>, RosError> {
        let is_swapped = raw == Layout::Bgr8 && topics.context.options.rgb == RgbEncoding::Rgb8;
        Ok(Box::new(Self {
            image: topics.image(topics.main_suffix())?,
            compressed: topics.compressed(&topics.below("/compressed"))?,
            info: InfoTopic::open(topics, lens)?,
            header: topics.header(topics.main_suffix()),
            raw,
            layout: if is_swapped { Layout::Rgb8 } else { raw },
            guard: topics.guard(raw.bytes()),
            decoder: topics.decoder(),
        }))
    }

    /// Publishes raw pixels, swapped if the layouts differ. Pixels in a loan are not copied.
    fn publish_raw(&self, payload: FramePayload<'_>, size: Size) -> Result<(), SensorError> {
        if self.image.subscribers() > 0 {
            let head = image_head(&self.header, size, self.layout);
            check_sent(match payload {
                FramePayload::Loaned { loan, len } => self.image.publish_loan(&head, loan, len)?,
                FramePayload::Shared { pixels, is_intact } => {
                    self.image.publish_if(&head, pixels, is_intact)?
                }
                FramePayload::Borrowed(bytes) if self.layout == self.raw => {
                    self.image.publish(&head, bytes)?
                }
                FramePayload::Borrowed(bytes) => {
                    let mut loan = self.image.loan(bytes.len());
                    pixels::copy_swapped(bytes, &mut loan.as_mut()[..bytes.len()]);
                    self.image.publish_loan(&head, loan, bytes.len())?
                }
            })?;
        }
        Ok(())
    }

    /// Publishes a file and its decoded pixels, each only if subscribed to.
    fn publish_file(&mut self, file: &[u8], codec: Codec) -> Result<(), SensorError> {
        if let Some(compressed) = self.compressed.as_ref().filter(|c| c.subscribers() > 0) {
            let format = format_of(self.raw, codec);
            let head = CompressedHead { header: &self.header, format };
            check_sent(compressed.publish(&head, file)?)?;
        }
        if self.image.subscribers() > 0 {
            let (size, data) = self.decoder.decode(file, self.layout)?;
            let head = image_head(&self.header, size, self.layout);
            check_sent(self.image.publish(&head, data)?)?;
        }
        Ok(())
    }
}

impl Sensor for CameraSensor {
    fn is_wanted(&self) -> bool {
        self.image.subscribers() > 0
            || self.compressed.as_ref().is_some_and(|c| c.subscribers() > 0)
            || self.info.is_wanted()
    }

    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        self.header.stamp = head.stamp.to_msg();
        let (size, codec) = self.guard.admit(&payload, head.compressed)?;
        match codec {
            Some(codec) => self.publish_file(payload.bytes(), codec)?,
            None => self.publish_raw(payload, size)?,
        }
        Ok(self.info.publish(&self.header.stamp, size)?)
    }

    fn reads_shared(&self, len: usize) -> bool {
        self.layout == self.raw && len == self.guard.raw_len
    }

    fn lend(&self) -> Option<Loan<Image>> {
        let is_unchanged = !self.guard.expects_files && self.layout == self.raw;
        (is_unchanged && self.image.subscribers() > 0)
            .then(|| self.image.loan(self.guard.raw_len + LOAN_SPARE))
    }

    fn set_view(&mut self, view: &CameraView) {
        self.header.frame_id.clone_from(&view.frame_id);
        self.info.set_view(view);
    }
}

fn image_head(header: &Header, size: Size, layout: Layout) -> ImageHead<'_> {
    ImageHead {
        header,
        height: size.height as u32,
        width: size.width as u32,
        encoding: layout.encoding(),
        step: (size.width * layout.bytes()) as u32,
    }
}

/// Returns the format string of `compressed_image_transport` for this kind of image; its subscribers parse it.
fn format_of(raw: Layout, codec: Codec) -> &'static str {
    match (raw, codec) {
        (Layout::Mono8, Codec::Png) => "mono8; png compressed ",
        (Layout::Mono8, Codec::Jpeg) => "mono8; jpeg compressed ",
        (_, Codec::Png) => "bgr8; png compressed bgr8",
        (_, Codec::Jpeg) => "bgr8; jpeg compressed bgr8",
    }
}

/// Returns an error for a torn frame; the middleware itself counts samples that it drops.
pub(super) fn check_sent(outcome: Outcome) -> Result<(), SensorError> {
    match outcome {
        Outcome::Sent | Outcome::Dropped => Ok(()),
        Outcome::Torn => Err(SensorError::Torn),
    }
}
