//! Colour and grey images: types 1, 3, 4, 8, 9, 40 and 41.
use super::{
    Codec, Decoder, ForeignFrame, Frame, FrameKind, Layout, Lens, LentFrame, Sensor, SensorError,
    SensorSpec, Size, TopicSpec, View,
    camera_info::InfoTopic,
    codec::size_of_file,
    pixels,
    shape::{Shape, ShapeGuard},
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

const IMAGE: &str = "sensor_msgs/msg/Image";
const COMPRESSED: &str = "sensor_msgs/msg/CompressedImage";
const CAMERA_INFO: &str = "sensor_msgs/msg/CameraInfo";

/// The topic of `camera_info`, the same for every camera.
pub(super) const INFO_TOPIC: TopicSpec = TopicSpec {
    group: QosGroup::CameraInfo,
    suffix: InfoTopic::SUFFIX,
    interface: CAMERA_INFO,
    frame: FrameKind::Optical,
    compressed_only: false,
    doc: "calibration, same stamp and frame as the image",
};

/// The topic of an image.
pub(super) const fn image_topic(suffix: &'static str, doc: &'static str) -> TopicSpec {
    TopicSpec {
        group: QosGroup::Image,
        suffix,
        interface: IMAGE,
        frame: FrameKind::Optical,
        compressed_only: false,
        doc,
    }
}

/// The topic of a compressed image.
pub(super) const fn compressed_topic(suffix: &'static str, doc: &'static str) -> TopicSpec {
    TopicSpec {
        group: QosGroup::Compressed,
        suffix,
        interface: COMPRESSED,
        frame: FrameKind::Optical,
        compressed_only: true,
        doc,
    }
}

macro_rules! camera {
    ($name:ident, $kind:ident, $key:literal, $suffix:literal, $open:ident, $encoding:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) const $name: SensorSpec = SensorSpec {
            kind: SensorKind::$kind,
            name: $key,
            topics: &[
                image_topic($suffix, $encoding),
                compressed_topic(
                    concat!($suffix, "/compressed"),
                    "the simulator's PNG or JPEG, untouched",
                ),
                INFO_TOPIC,
            ],
            doc: $doc,
            open: $open,
        };
    };
}

camera!(RGB, Rgb, "rgb", "img_rgb", open_colour, "bgr8, or rgb8 by parameter", "RGB camera");
camera!(GREY, Grey, "grey", "img_gray", open_grey, "mono8", "grey camera");
camera!(
    SEGMENTATION,
    Segmentation,
    "segmentation",
    "img_Segmentation",
    open_colour,
    "bgr8, or rgb8 by parameter",
    "segmentation camera; colours follow the stencil values of the objects"
);
camera!(
    FISHEYE,
    Fisheye,
    "fisheye",
    "fisheye",
    open_fisheye,
    "bgr8, or rgb8 by parameter",
    "fisheye camera"
);
camera!(
    POD,
    Pod,
    "pod",
    "img_cine",
    open_colour,
    "bgr8, or rgb8 by parameter",
    "gimballed pod camera"
);
camera!(
    INFRARED_GREY,
    Infrared,
    "infrared_grey",
    "img_Infrared_Gray",
    open_grey,
    "mono8",
    "infrared camera, grey"
);
camera!(
    INFRARED,
    Thermal,
    "infrared",
    "img_Infrared",
    open_colour,
    "bgr8, or rgb8 by parameter",
    "thermal camera, false colour"
);

fn open_colour(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
    Camera::open(topics, Layout::Bgr8, Lens::Pinhole)
}

fn open_grey(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
    Camera::open(topics, Layout::Mono8, Lens::Pinhole)
}

fn open_fisheye(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
    let factor = FISHEYE_FACTOR;
    Camera::open(topics, Layout::Bgr8, Lens::Fisheye { factor })
}

struct Camera {
    image: ImagePublisher,
    compressed: Option<CompressedPublisher>,
    info: InfoTopic,
    header: Header,
    /// Layout of raw payloads.
    raw: Layout,
    /// Published layout.
    layout: Layout,
    size: Size,
    /// The transport delivers PNG or JPEG files.
    file_expected: bool,
    guard: ShapeGuard,
    decoder: Decoder,
}

impl Camera {
    fn open(topics: &Topics<'_>, raw: Layout, lens: Lens) -> Result<Box<dyn Sensor>, RosError> {
        let size = topics.size();
        let swap = raw == Layout::Bgr8 && topics.context.options.rgb == RgbEncoding::Rgb8;
        Ok(Box::new(Self {
            image: topics.image(topics.main())?,
            compressed: topics.compressed(&topics.below("/compressed"))?,
            info: InfoTopic::open(topics, lens)?,
            header: topics.header(topics.main()),
            raw,
            layout: if swap { Layout::Rgb8 } else { raw },
            size,
            file_expected: topics.context.config.transport.is_compressed(),
            guard: topics.guard(),
            decoder: topics.decoder(),
        }))
    }

    /// Size of a raw payload in bytes.
    fn expected(&self) -> usize {
        self.size.pixels() * self.raw.bytes()
    }

    /// Publishes raw pixels: the payload itself, or its channels swapped into memory of the publisher.
    fn raw(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.guard.admit(Shape { size: self.size, file: false })?;
        if self.image.subscribers() > 0 {
            let head = head(&self.header, self.size, self.layout);
            let len = frame.payload.len();
            sent(if self.layout == self.raw {
                self.image.publish(&head, frame.payload)?
            } else {
                let mut loan = self.image.loan(len);
                pixels::copy_swapped(frame.payload, &mut loan.as_mut()[..len]);
                self.image.publish_loan(&head, loan, len)?
            })?;
        }
        Ok(self.info.publish(&self.header.stamp, self.size)?)
    }

    /// Publishes raw pixels that need no conversion.
    fn foreign(&mut self, frame: &ForeignFrame<'_>) -> Result<(), SensorError> {
        self.header.stamp = frame.stamp.to_msg();
        if self.image.subscribers() > 0 {
            let head = head(&self.header, self.size, self.layout);
            sent(self.image.publish_if(&head, frame.pixels, frame.intact)?)?;
        }
        Ok(self.info.publish(&self.header.stamp, self.size)?)
    }

    /// Publishes a file and its decoded pixels, each only if subscribed to.
    fn file(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        let (codec, size) = size_of_file(frame.payload)?;
        self.guard.admit(Shape { size, file: true })?;
        if let Some(compressed) = self.compressed.as_ref().filter(|c| c.subscribers() > 0) {
            let format = format_of(self.raw, codec);
            let head = CompressedHead { header: &self.header, format };
            sent(compressed.publish(&head, frame.payload)?)?;
        }
        if self.image.subscribers() > 0 {
            let (size, data) = self.decoder.decode(frame.payload, self.layout)?;
            let head = head(&self.header, size, self.layout);
            sent(self.image.publish(&head, data)?)?;
        }
        Ok(self.info.publish(&self.header.stamp, size)?)
    }
}

impl Sensor for Camera {
    fn wanted(&self) -> bool {
        self.image.subscribers() > 0
            || self.compressed.as_ref().is_some_and(|c| c.subscribers() > 0)
            || self.info.wanted()
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.header.stamp = frame.stamp.to_msg();
        let expected = self.expected();
        // The content decides, not the mode (docs/wire/traps.md, png-or-jpeg); but a payload with the size of a raw
        // image in a raw mode is never taken for a file.
        if frame.compressed
            || (frame.payload.len() != expected && Codec::of(frame.payload).is_some())
        {
            self.file(frame)
        } else if frame.payload.len() == expected {
            self.raw(frame)
        } else {
            Err(SensorError::Size { expected, found: frame.payload.len() })
        }
    }

    fn accept_foreign(&mut self, frame: &ForeignFrame<'_>) -> Option<Result<(), SensorError>> {
        let fits = frame.pixels.len() == self.expected();
        (self.layout == self.raw && fits).then(|| self.foreign(frame))
    }

    fn lend(&self) -> Option<Loan<Image>> {
        let unchanged = !self.file_expected && self.layout == self.raw;
        (unchanged && self.image.subscribers() > 0)
            .then(|| self.image.loan(self.expected() + LOAN_SPARE))
    }

    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        if frame.len != self.expected() || self.image.subscribers() == 0 {
            let payload = loan.as_ref().get(..frame.len).unwrap_or_default();
            return self.accept(&frame.with(payload));
        }
        self.header.stamp = frame.stamp.to_msg();
        self.guard.admit(Shape { size: self.size, file: false })?;
        let head = head(&self.header, self.size, self.layout);
        sent(self.image.publish_loan(&head, loan, frame.len)?)?;
        Ok(self.info.publish(&self.header.stamp, self.size)?)
    }

    fn set_view(&mut self, view: &View) {
        self.header.frame_id.clone_from(&view.frame_id);
        self.info.set_view(view);
    }
}

fn head(header: &Header, size: Size, layout: Layout) -> ImageHead<'_> {
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

/// Turns a torn frame into an error; samples dropped by the middleware are counted there.
pub(super) fn sent(outcome: Outcome) -> Result<(), SensorError> {
    match outcome {
        Outcome::Sent | Outcome::Dropped => Ok(()),
        Outcome::Torn => Err(SensorError::Torn),
    }
}
