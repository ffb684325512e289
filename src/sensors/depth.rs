//! Depth images: type 2.
//!
//! The wire has u16 counts of `otherParams[2]` metres (0: 1 mm). 65535 means no return: nearer than `otherParams[0]` or
//! farther than `otherParams[1]`. REP 117 maps the former to -Inf and the latter to +Inf. Without a near limit 65535 can only mean
//! too far, and becomes +Inf; with a near limit it is ambiguous, and becomes NaN.
use super::camera::{INFO_TOPIC, check_sent, compressed_topic, image_topic};
use super::{
    CameraView, Decoder, DepthNoise, FrameHead, FramePayload, Lens, Sensor, SensorError,
    SensorSpec, Size,
};
use super::{camera_info::InfoTopic, shape::ImageGuard, spec::Topics};
use crate::ros::{CompressedHead, CompressedPublisher, ImageHead, ImagePublisher, RosError};
use crate::{config::params::DepthEncoding, msgs::std_msgs::msg::Header, session::BufferPeak};
use crate::{time::SimTime, wire::SensorKind};

/// Count of a pixel without return.
const NO_RETURN: u16 = u16::MAX;
/// Metres per count if the parameter is 0.
const DEFAULT_SCALE: f32 = 0.001;
/// `ConfigHeader` of `compressed_depth_image_transport`: format and quantisation, unused for 16UC1.
const CONFIG_HEADER: [u8; 12] = [0; 12];

pub(super) const DEPTH: SensorSpec = SensorSpec {
    kind: SensorKind::Depth,
    name: "depth",
    topics: &[
        image_topic("img_depth", "16UC1, mm, 0 = invalid (REP 118); mono16 counts by parameter"),
        image_topic(
            "img_depth_float",
            "32FC1, m, NaN = invalid; no return is +Inf, or NaN with a near limit (REP 117, 118)",
        ),
        compressed_topic(
            "img_depth/compressed",
            "the simulator's 16-bit PNG of mono16 counts, encoded again only with noise",
        ),
        compressed_topic(
            "img_depth/compressedDepth",
            "16UC1 PNG in mm as compressed_depth_image_transport writes it",
        ),
        INFO_TOPIC,
    ],
    open: DepthSensor::open,
};

struct DepthSensor {
    source: DepthSource,
    topics: DepthTopics,
    info: InfoTopic,
    millimetres: Vec<u8>,
    encoded: Vec<u8>,
    peaks: [BufferPeak; 2],
}

struct DepthSource {
    /// Metres per count.
    scale: f32,
    guard: ImageGuard,
    decoder: Decoder,
    noise: Option<DepthNoise>,
}

struct DepthTopics {
    main: ImagePublisher,
    float: Option<ImagePublisher>,
    compressed: Option<CompressedPublisher>,
    compressed_depth: Option<CompressedPublisher>,
    header: Header,
    /// The main topic has the counts of the wire.
    has_vendor_counts: bool,
    /// Metres of a pixel without return.
    no_return: f32,
}

struct DepthCounts<'a> {
    size: Size,
    counts: &'a [u8],
    scale: f32,
    is_noisy: bool,
    /// The file that the counts are from; `None`: raw counts.
    file: Option<&'a [u8]>,
}

impl DepthSensor {
    fn open(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
        let (config, options) = (topics.context.config, topics.context.options);
        let [near, _, scale, ..] = config.other_params;
        let float = || topics.image(&topics.below("_float"));
        Ok(Box::new(Self {
            source: DepthSource {
                scale: if scale > 0.0 { scale } else { DEFAULT_SCALE },
                guard: topics.guard(2),
                decoder: topics.decoder(),
                noise: DepthNoise::new(&options.degrade, config.seq_id),
            },
            topics: DepthTopics {
                main: topics.image(topics.main_suffix())?,
                float: options.depth_float.then(float).transpose()?,
                compressed: topics.compressed(&topics.below("/compressed"))?,
                compressed_depth: topics.compressed(&topics.below("/compressedDepth"))?,
                header: topics.header(topics.main_suffix()),
                has_vendor_counts: options.depth == DepthEncoding::Vendor,
                no_return: if near > 0.0 { f32::NAN } else { f32::INFINITY },
            },
            info: InfoTopic::open(topics, Lens::Pinhole)?,
            millimetres: Vec::new(),
            encoded: Vec::new(),
            peaks: [BufferPeak::default(); 2],
        }))
    }
}

impl Sensor for DepthSensor {
    fn is_wanted(&self) -> bool {
        self.topics.need_counts(true)
            || self.topics.wanted_compressed().is_some()
            || self.info.is_wanted()
    }

    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        let Self { source, topics, info, millimetres, encoded, peaks } = self;
        topics.header.stamp = head.stamp.to_msg();
        let (size, codec) = source.guard.admit(&payload, head.compressed)?;
        let (payload, is_file) = (payload.bytes(), codec.is_some());
        let is_noisy = source.noise.is_some();
        let compressed = topics.wanted_compressed().filter(|_| is_file);
        if let Some(compressed) = compressed.filter(|_| !is_noisy) {
            topics.publish_file(compressed, payload)?;
        }
        if topics.need_counts(is_file) || (compressed.is_some() && is_noisy) {
            let depth = source.read(payload, size, is_file, head.sim_time)?;
            let in_millimetres = topics.convert_to_millimetres(&depth, millimetres);
            topics.publish_images(&depth, in_millimetres)?;
            topics.publish_encoded(&depth, in_millimetres, encoded)?;
        }
        // Frees memory that only an unusually large image needed.
        for (peak, buffer) in peaks.iter_mut().zip([millimetres, encoded]) {
            peak.shrink_if_due(buffer.len(), buffer);
        }
        Ok(info.publish(&topics.header.stamp, size)?)
    }

    fn set_view(&mut self, view: &CameraView) {
        self.topics.header.frame_id.clone_from(&view.frame_id);
        self.info.set_view(view);
    }
}

impl DepthSource {
    /// Decodes an admitted payload and adds the noise.
    fn read<'a>(
        &'a mut self,
        payload: &'a [u8],
        size: Size,
        is_file: bool,
        time: SimTime,
    ) -> Result<DepthCounts<'a>, SensorError> {
        let Self { scale, decoder, noise, .. } = self;
        let (size, counts) = if is_file { decoder.decode_depth(payload)? } else { (size, payload) };
        let is_noisy = noise.is_some();
        let counts = match noise {
            Some(noise) => noise.apply(time, counts, *scale),
            None => counts,
        };
        let file = is_file.then_some(payload);
        Ok(DepthCounts { size, counts, scale: *scale, is_noisy, file })
    }
}

impl DepthTopics {
    fn wanted_float(&self) -> Option<&ImagePublisher> {
        self.float.as_ref().filter(|float| float.subscribers() > 0)
    }

    fn wanted_compressed(&self) -> Option<&CompressedPublisher> {
        self.compressed.as_ref().filter(|compressed| compressed.subscribers() > 0)
    }

    fn wanted_compressed_depth(&self) -> Option<&CompressedPublisher> {
        self.compressed_depth.as_ref().filter(|compressed| compressed.subscribers() > 0)
    }

    /// Whether a topic with subscribers needs the decoded counts; `is_file`: the counts arrive as a file.
    fn need_counts(&self, is_file: bool) -> bool {
        self.main.subscribers() > 0
            || self.wanted_float().is_some()
            || (is_file && self.wanted_compressed_depth().is_some())
    }

    /// Returns the image in millimetres, and whether the file contains it unchanged; `None` if no topic needs it.
    fn convert_to_millimetres<'a>(
        &self,
        depth: &DepthCounts<'a>,
        buffer: &'a mut Vec<u8>,
    ) -> Option<(&'a [u8], bool)> {
        let is_main = self.main.subscribers() > 0 && !self.has_vendor_counts;
        if !is_main && (depth.file.is_none() || self.wanted_compressed_depth().is_none()) {
            return None;
        }
        if depth.scale == DEFAULT_SCALE && !has_no_return(depth.counts) {
            return Some((depth.counts, !depth.is_noisy));
        }
        to_millimetres(depth.counts, depth.scale, buffer);
        Some((&buffer[..], false))
    }

    /// Publishes the images: millimetres or counts, and metres.
    fn publish_images(
        &self,
        depth: &DepthCounts<'_>,
        in_millimetres: Option<(&[u8], bool)>,
    ) -> Result<(), SensorError> {
        let Size { width, height } = depth.size;
        let image = |encoding, bytes: usize| ImageHead {
            header: &self.header,
            height: height as u32,
            width: width as u32,
            encoding,
            step: (width * bytes) as u32,
        };
        if self.main.subscribers() > 0 {
            let published = match in_millimetres.filter(|_| !self.has_vendor_counts) {
                Some((data, _)) => self.main.publish(&image("16UC1", 2), data),
                None => self.main.publish(&image("mono16", 2), depth.counts),
            };
            check_sent(published?)?;
        }
        if let Some(float) = self.wanted_float() {
            let len = depth.counts.len() * 2;
            let mut loan = float.loan(len);
            let metres = &mut loan.as_mut()[..len];
            to_metres(depth.counts, depth.scale, self.no_return, metres);
            check_sent(float.publish_loan(&image("32FC1", 4), loan, len)?)?;
        }
        Ok(())
    }

    /// Publishes files of counts that arrived in a file; `buffer` receives a file that was encoded again.
    fn publish_encoded(
        &self,
        depth: &DepthCounts<'_>,
        in_millimetres: Option<(&[u8], bool)>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SensorError> {
        let Some(file) = depth.file else { return Ok(()) };
        if let Some(compressed) = self.wanted_compressed().filter(|_| depth.is_noisy) {
            buffer.clear();
            encode(depth.size, depth.counts, buffer)?;
            self.publish_file(compressed, buffer)?;
        }
        if let (Some(publisher), Some((data, is_unchanged))) =
            (self.wanted_compressed_depth(), in_millimetres)
        {
            buffer.clear();
            buffer.extend_from_slice(&CONFIG_HEADER);
            if is_unchanged {
                buffer.extend_from_slice(file);
            } else {
                encode(depth.size, data, buffer)?;
            }
            let head =
                CompressedHead { header: &self.header, format: "16UC1; compressedDepth png" };
            check_sent(publisher.publish(&head, &*buffer)?)?;
        }
        Ok(())
    }

    /// Publishes a PNG of counts, which may be noisy.
    fn publish_file(&self, to: &CompressedPublisher, file: &[u8]) -> Result<(), SensorError> {
        let head = CompressedHead { header: &self.header, format: "mono16; png compressed " };
        check_sent(to.publish(&head, file)?)
    }
}

fn read_count(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

/// Whether any pixel has no return; the sky is at the top, so this usually ends early.
fn has_no_return(counts: &[u8]) -> bool {
    counts.chunks(512).any(|block| {
        block.chunks_exact(2).fold(false, |found, c| found | (read_count(c) == NO_RETURN))
    })
}

/// Converts counts to millimetres; no return and values out of range become 0, which is invalid (REP 118).
fn to_millimetres(counts: &[u8], scale: f32, out: &mut Vec<u8>) {
    out.resize(counts.len(), 0);
    if scale == DEFAULT_SCALE {
        for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
            let raw = read_count(c);
            o.copy_from_slice(&(if raw == NO_RETURN { 0 } else { raw }).to_le_bytes());
        }
        return;
    }
    let per_count = scale * 1000.0;
    for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
        let raw = read_count(c);
        let value = f32::from(raw) * per_count + 0.5;
        let is_valid = raw != NO_RETURN && value < 65536.0;
        // Through i32, because SSE2 has that conversion.
        o.copy_from_slice(&(if is_valid { value as i32 as u16 } else { 0 }).to_le_bytes());
    }
}

/// Converts counts to metres; 0 becomes NaN, 65535 becomes `no_return`.
fn to_metres(counts: &[u8], scale: f32, no_return: f32, out: &mut [u8]) {
    for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(4)) {
        let raw = read_count(c);
        let metres = f32::from(raw) * scale;
        let metres = if raw == 0 { f32::NAN } else { metres };
        o.copy_from_slice(&(if raw == NO_RETURN { no_return } else { metres }).to_le_bytes());
    }
}

/// Appends the little-endian counts as a PNG, with the fastest setting.
fn encode(size: Size, counts: &[u8], file: &mut Vec<u8>) -> Result<(), SensorError> {
    let broken = |_| SensorError::Undecodable { codec: "png" };
    let mut encoder = png::Encoder::new(file, size.width as u32, size.height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    encoder.set_compression(png::Compression::Fast);
    let mut big_endian = vec![0; counts.len()];
    super::pixels::swap_bytes_16(counts, &mut big_endian);
    let mut writer = encoder.write_header().map_err(broken)?;
    writer.write_image_data(&big_endian).map_err(broken)
}
