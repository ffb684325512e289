use super::WireError;

const TAG: u16 = 12345;
/// Check word of the long layout in the vendor's newer documents; its SDK writes [`TAG`] there, too.
const LONG_TAG: u16 = 12346;

/// Rate of a sensor whose `check_freq` is 0.
pub const DEFAULT_RATE_HZ: u16 = 30;

/// Returns the rate in Hz that a `check_freq` asks for.
pub const fn check_freq_hz(check_freq: u16) -> u16 {
    match check_freq {
        0 => DEFAULT_RATE_HZ,
        rate => rate,
    }
}

/// The request layouts, distinguished by their length on the wire; the last two differ in the check word only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequestLayout {
    /// 92 bytes, 8 other parameters, Euler angles only.
    Old,
    /// 144 bytes, 16 other parameters, Euler angles or quaternion.
    New,
    /// 148 bytes with a bit mask, as the vendor's SDK writes it for the gimballed pod camera (TypeID 9).
    Gimbal,
    /// 148 bytes with a bit mask, as the vendor's newer documents have it for all types.
    Long,
}

impl RequestLayout {
    /// Returns the length on the wire in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a layout is never empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Old => 92,
            Self::New => 144,
            Self::Gimbal | Self::Long => 148,
        }
    }

    /// Whether the layout has a bit mask.
    pub const fn has_mask(self) -> bool {
        matches!(self, Self::Gimbal | Self::Long)
    }

    const fn tag(self) -> u16 {
        match self {
            Self::Old | Self::New | Self::Gimbal => TAG,
            Self::Long => LONG_TAG,
        }
    }
}

/// `SendProtocol`: how and where the renderer sends the data of a sensor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SendProtocol {
    /// 0 shared memory, 1 and 3 compressed over UDP, 2 raw over UDP.
    pub mode: u16,
    /// IPv4 address; 0.0.0.0 and 127.0.0.1: the source of the request.
    pub ip: [u16; 4],
    /// UDP port.
    pub port: u16,
    /// Most bytes of a frame in one datagram; 0: the renderer's own choice, 60,000 or, under WSL, 1400. Older renderers
    /// ignore it.
    pub piece_bytes: u16,
    /// Clouds have a fourth number, the colour of the segmentation as RGB555; 0: none. Older renderers ignore it.
    pub segmentation: u16,
}

/// Request for one sensor, user to renderer window port 20010+w. Angles are in the caller's unit.
///
/// Source: vendor SDK, golden `vision_req`; offsets in docs/wire/sensor_request.md.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorRequest {
    /// Layout on the wire.
    pub layout: RequestLayout,
    /// Sensor number.
    pub seq_id: u16,
    /// Properties that an update carries in a layout with a bit mask; 0: all, and in other layouts.
    pub bitmask: u32,
    /// Sensor type.
    pub type_id: u16,
    /// Vehicle id, or the carrying sensor's number for mount type 4.
    pub target_copter: u16,
    /// 0 vehicle centre, 1 vehicle bottom, 2 ground, 3 vehicle without attitude, 4 other sensor.
    pub mount_type: u16,
    /// Width in px, or points per ring.
    pub width: u16,
    /// Height in px, or rings.
    pub height: u16,
    /// Rate in Hz; 0: [`DEFAULT_RATE_HZ`].
    pub check_freq: u16,
    /// Transport and return address.
    pub send_protocol: SendProtocol,
    /// Horizontal field of view in degrees.
    pub fov_deg: f32,
    /// Mounting position in m, FRD.
    pub position: [f32; 3],
    /// Above 0.5: the quaternion applies, otherwise the Euler angles. Not in the old layout.
    pub eular_or_quat: f32,
    /// Roll, pitch, yaw, FRD.
    pub euler: [f32; 3],
    /// w, x, y, z. Not in the old layout.
    pub quaternion: [f32; 4],
    /// Per-type parameters; the old layout carries the first 8.
    pub other_params: [f32; 16],
}

impl SensorRequest {
    /// Writes the datagram into `buffer` and returns it.
    pub fn emit<'a>(&self, buffer: &'a mut [u8; 148]) -> &'a [u8] {
        buffer.fill(0);
        let mut out = Cursor { bytes: buffer, at: 0 };
        out.u16(self.layout.tag());
        out.u16(self.seq_id);
        if self.layout.has_mask() {
            out.put(self.bitmask.to_le_bytes());
        }
        for value in [
            self.type_id,
            self.target_copter,
            self.mount_type,
            self.width,
            self.height,
            self.check_freq,
        ] {
            out.u16(value);
        }
        out.u16(self.send_protocol.mode);
        self.send_protocol.ip.iter().for_each(|v| out.u16(*v));
        out.u16(self.send_protocol.port);
        out.u16(self.send_protocol.piece_bytes);
        out.u16(self.send_protocol.segmentation);
        out.f32(self.fov_deg);
        self.position.iter().for_each(|v| out.f32(*v));
        if self.layout == RequestLayout::Old {
            self.euler.iter().for_each(|v| out.f32(*v));
            self.other_params.iter().take(8).for_each(|v| out.f32(*v));
        } else {
            out.f32(self.eular_or_quat);
            self.euler.iter().for_each(|v| out.f32(*v));
            self.quaternion.iter().for_each(|v| out.f32(*v));
            self.other_params.iter().for_each(|v| out.f32(*v));
        }
        &buffer[..self.layout.len()]
    }

    /// Reads a request; the length selects the layout.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        const WHAT: &str = "sensor request";
        let layout = match bytes.len() {
            92 => RequestLayout::Old,
            144 => RequestLayout::New,
            148 if bytes.starts_with(&LONG_TAG.to_le_bytes()) => RequestLayout::Long,
            148 => RequestLayout::Gimbal,
            found => {
                return Err(WireError::Length {
                    what: WHAT,
                    expected: RequestLayout::New.len(),
                    found,
                });
            }
        };
        let mut at = Reader { bytes };
        let tag = at.u16();
        super::expect_tag(WHAT, layout.tag().into(), tag.into())?;
        let seq_id = at.u16();
        let bitmask = if layout.has_mask() { u32::from_le_bytes(at.take()) } else { 0 };
        let [type_id, target_copter, mount_type, width, height, check_freq] =
            std::array::from_fn(|_| at.u16());
        let send_protocol = SendProtocol {
            mode: at.u16(),
            ip: std::array::from_fn(|_| at.u16()),
            port: at.u16(),
            piece_bytes: at.u16(),
            segmentation: at.u16(),
        };
        let fov_deg = at.f32();
        let position = std::array::from_fn(|_| at.f32());
        let old = layout == RequestLayout::Old;
        let eular_or_quat = if old { 0.0 } else { at.f32() };
        let euler = std::array::from_fn(|_| at.f32());
        let quaternion = if old { [0.0; 4] } else { std::array::from_fn(|_| at.f32()) };
        let other_params = std::array::from_fn(|i| if old && i >= 8 { 0.0 } else { at.f32() });
        Ok(Self {
            layout,
            seq_id,
            bitmask,
            type_id,
            target_copter,
            mount_type,
            width,
            height,
            check_freq,
            send_protocol,
            fov_deg,
            position,
            eular_or_quat,
            euler,
            quaternion,
            other_params,
        })
    }

    /// Reads what a pod camera reports, which has the layout of the long request.
    pub(super) fn parse_feedback(bytes: &[u8]) -> Result<Self, WireError> {
        let report = Self::parse(bytes)?;
        match report.layout {
            RequestLayout::Long => Ok(report),
            other => Err(WireError::Tag {
                what: "report of a pod camera",
                expected: LONG_TAG.into(),
                found: other.tag().into(),
            }),
        }
    }
}

struct Cursor<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Cursor<'_> {
    fn put<const N: usize>(&mut self, value: [u8; N]) {
        self.bytes[self.at..self.at + N].copy_from_slice(&value);
        self.at += N;
    }

    fn u16(&mut self, value: u16) {
        self.put(value.to_le_bytes());
    }

    fn f32(&mut self, value: f32) {
        self.put(value.to_le_bytes());
    }
}

/// Reads fields in order; the caller has checked the total length.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.bytes.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.bytes = rest;
                *head
            }
            None => [0; N],
        }
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }
}
