//! Depth images: type 2.
//!
//! The wire has u16 counts of `otherParams[2]` metres (0: 1 mm). 65535 means no return: nearer than `otherParams[0]` or
//! farther than `otherParams[1]`. REP 117 maps the former to -Inf and the latter to +Inf. Without a lower limit only
//! "too far" is left, so it becomes +Inf; otherwise the wire does not distinguish them, so it becomes NaN.
use super::{
    Codec, Decoder, DepthNoise, Frame, Lens, Sensor, SensorError, SensorSpec, Size, View,
    camera::{INFO_TOPIC, compressed_topic, image_topic, sent},
    camera_info::InfoTopic,
    shape::{Shape, ShapeGuard},
    spec::Topics,
};
use crate::{
    config::params::DepthEncoding,
    msgs::std_msgs::msg::Header,
    ros::{CompressedHead, CompressedPublisher, ImageHead, ImagePublisher, RosError},
    session::BufferPeak,
    wire::SensorKind,
};

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
        image_topic("img_depth_float", "32FC1, m, NaN = invalid, +Inf = no return (REP 117, 118)"),
        compressed_topic(
            "img_depth/compressed",
            "the simulator's 16-bit PNG, untouched: mono16 counts",
        ),
        compressed_topic(
            "img_depth/compressedDepth",
            "16UC1 PNG in mm as compressed_depth_image_transport writes it",
        ),
        INFO_TOPIC,
    ],
    doc: "depth camera",
    open: Depth::open,
};

struct Depth {
    main: ImagePublisher,
    float: Option<ImagePublisher>,
    compressed: Option<CompressedPublisher>,
    compressed_depth: Option<CompressedPublisher>,
    info: InfoTopic,
    header: Header,
    vendor: bool,
    size: Size,
    scale: f32,
    no_return: f32,
    guard: ShapeGuard,
    decoder: Decoder,
    noise: Option<DepthNoise>,
    millimetres: Vec<u8>,
    file: Vec<u8>,
    peaks: [BufferPeak; 2],
}

impl Depth {
    fn open(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
        let (config, options) = (topics.context.config, topics.context.options);
        let size = topics.size();
        let [near, _, scale, ..] = config.other_params;
        Ok(Box::new(Self {
            main: topics.image(topics.main())?,
            float: options
                .depth_float
                .then(|| topics.image(&topics.below("_float")))
                .transpose()?,
            compressed: topics.compressed(&topics.below("/compressed"))?,
            compressed_depth: topics.compressed(&topics.below("/compressedDepth"))?,
            info: InfoTopic::open(topics, Lens::Pinhole)?,
            header: topics.header(topics.main()),
            vendor: options.depth == DepthEncoding::Vendor,
            size,
            scale: if scale > 0.0 { scale } else { DEFAULT_SCALE },
            no_return: if near > 0.0 { f32::NAN } else { f32::INFINITY },
            guard: topics.guard(),
            decoder: topics.decoder(),
            noise: DepthNoise::new(&options.degrade, config.seq_id),
            millimetres: Vec::new(),
            file: Vec::new(),
            peaks: [BufferPeak::default(); 2],
        }))
    }

    /// Frees memory that only an unusually large image needed.
    fn tidy(&mut self) {
        let buffers = [&mut self.millimetres, &mut self.file];
        for (peak, buffer) in self.peaks.iter_mut().zip(buffers) {
            peak.shrink_if_due(buffer.len(), buffer);
        }
    }

    fn is_millimetres(&self) -> bool {
        self.scale == DEFAULT_SCALE
    }
}

impl Sensor for Depth {
    fn wanted(&self) -> bool {
        let compressed =
            |c: &Option<CompressedPublisher>| c.as_ref().is_some_and(|c| c.subscribers() > 0);
        self.main.subscribers() > 0
            || self.float.as_ref().is_some_and(|f| f.subscribers() > 0)
            || compressed(&self.compressed)
            || compressed(&self.compressed_depth)
            || self.info.wanted()
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.header.stamp = frame.stamp.to_msg();
        let expected = self.size.pixels() * 2;
        let is_file = frame.compressed
            || (frame.payload.len() != expected && Codec::of(frame.payload).is_some());
        if !is_file && frame.payload.len() != expected {
            return Err(SensorError::Size { expected, found: frame.payload.len() });
        }
        let size = match is_file {
            true => super::codec::size_of_file(frame.payload)?.1,
            false => self.size,
        };
        self.guard.admit(Shape { size, file: is_file })?;
        let millimetres_fit = self.is_millimetres();
        let Self { header, decoder, noise, .. } = self;
        let compressed = self.compressed.as_ref().filter(|c| is_file && c.subscribers() > 0);
        let is_noisy = noise.is_some();
        if let Some(compressed) = compressed.filter(|_| !is_noisy) {
            sent(compressed.publish(&file_head(header), frame.payload)?)?;
        }

        let main = self.main.subscribers() > 0;
        let float = self.float.as_ref().filter(|f| f.subscribers() > 0);
        let compressed_depth =
            self.compressed_depth.as_ref().filter(|c| is_file && c.subscribers() > 0);
        let (size, counts) = match is_file {
            true if main
                || float.is_some()
                || compressed_depth.is_some()
                || (is_noisy && compressed.is_some()) =>
            {
                decoder.decode_depth(frame.payload)?
            }
            true => (size, &[][..]),
            false => (size, frame.payload),
        };
        let counts = match noise {
            Some(noise) => noise.apply(frame.sim_time, counts, self.scale),
            None => counts,
        };
        if let Some(compressed) = compressed.filter(|_| is_noisy) {
            self.file.clear();
            encode(size, counts, &mut self.file)?;
            sent(compressed.publish(&file_head(header), &self.file)?)?;
        }
        let image = |encoding, bytes: usize| ImageHead {
            header,
            height: size.height as u32,
            width: size.width as u32,
            encoding,
            step: (size.width * bytes) as u32,
        };

        let mut in_millimetres = None;
        if (main && !self.vendor) || compressed_depth.is_some() {
            in_millimetres = Some(if millimetres_fit && !has_no_return(counts) {
                (counts, !is_noisy)
            } else {
                to_millimetres(counts, self.scale, &mut self.millimetres);
                (&self.millimetres[..], false)
            });
        }
        if main {
            let published = match in_millimetres.filter(|_| !self.vendor) {
                Some((data, _)) => self.main.publish(&image("16UC1", 2), data),
                None => self.main.publish(&image("mono16", 2), counts),
            };
            sent(published?)?;
        }
        if let Some(float) = float {
            let mut loan = float.loan(counts.len() * 2);
            let metres = &mut loan.as_mut()[..counts.len() * 2];
            to_metres(counts, self.scale, self.no_return, metres);
            sent(float.publish_loan(&image("32FC1", 4), loan, counts.len() * 2)?)?;
        }
        if let (Some(publisher), Some((data, unchanged))) = (compressed_depth, in_millimetres) {
            self.file.clear();
            self.file.extend_from_slice(&CONFIG_HEADER);
            if unchanged {
                self.file.extend_from_slice(frame.payload);
            } else {
                encode(size, data, &mut self.file)?;
            }
            let head = CompressedHead { header, format: "16UC1; compressedDepth png" };
            sent(publisher.publish(&head, &self.file)?)?;
        }
        self.tidy();
        Ok(self.info.publish(&self.header.stamp, size)?)
    }

    fn set_view(&mut self, view: &View) {
        self.header.frame_id.clone_from(&view.frame_id);
        self.info.set_view(view);
    }
}

/// Head of a PNG with the simulator's counts.
fn file_head(header: &Header) -> CompressedHead<'_> {
    CompressedHead { header, format: "mono16; png compressed " }
}

fn count(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

/// Whether any pixel has no return; the sky is at the top, so this usually ends early.
fn has_no_return(counts: &[u8]) -> bool {
    counts
        .chunks(512)
        .any(|block| block.chunks_exact(2).fold(false, |found, c| found | (count(c) == NO_RETURN)))
}

/// Converts counts to millimetres; no return and values out of range become 0, which is invalid (REP 118).
fn to_millimetres(counts: &[u8], scale: f32, out: &mut Vec<u8>) {
    out.resize(counts.len(), 0);
    if scale == DEFAULT_SCALE {
        for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
            let raw = count(c);
            o.copy_from_slice(&(if raw == NO_RETURN { 0 } else { raw }).to_le_bytes());
        }
        return;
    }
    let per_count = scale * 1000.0;
    for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
        let raw = count(c);
        let value = f32::from(raw) * per_count + 0.5;
        let valid = raw != NO_RETURN && value < 65536.0;
        // Through i32, because SSE2 has that conversion.
        o.copy_from_slice(&(if valid { value as i32 as u16 } else { 0 }).to_le_bytes());
    }
}

/// Converts counts to metres; 0 becomes NaN, 65535 becomes `no_return`.
fn to_metres(counts: &[u8], scale: f32, no_return: f32, out: &mut [u8]) {
    for (c, o) in counts.chunks_exact(2).zip(out.chunks_exact_mut(4)) {
        let raw = count(c);
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
