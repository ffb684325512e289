use super::WireError;
use super::packet::{expect_tag, wrong_length};

const TAG: u16 = 12345;
/// Check word of the long layout in the vendor's newer documents; its SDK writes [`TAG`] there, too.
const LONG_TAG: u16 = 12346;

/// Rate of a sensor whose `check_freq` is 0.
pub const DEFAULT_RATE_HZ: u16 = 30;

/// Returns the rate in Hz that a `check_freq` requests.
pub const fn check_freq_hz(check_freq: u16) -> u16 {
    match check_freq {
        0 => DEFAULT_RATE_HZ,
        rate => rate,
    }
}

/// The request layouts, distinguished by their length on the wire; the last two differ in the check word only.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RequestLayout {
    /// 92 bytes, 8 other parameters, Euler angles only.
    Old,
    /// 144 bytes, 16 other parameters, Euler angles or quaternion.
    #[default]
    New,
    /// 148 bytes with a bit mask, as the vendor's SDK writes it for the gimballed pod camera (TypeID 9).
    Gimbal,
    /// 148 bytes with a bit mask, as the vendor's newer documents specify it for all types.
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
    /// Maximum bytes of a frame in one datagram; 0: the renderer's default, 60,000 or, under WSL, 1400. Older renderers
    /// ignore it.
    pub piece_bytes: u16,
    /// Not 0: points of clouds have a fourth number, the segmentation colour as RGB555. Older renderers ignore it.
    pub segmentation: u16,
}

/// Request for one sensor, from the user to port 20010+w of the renderer's window w. Euler angles are in the caller's unit.
///
/// Source: vendor SDK, golden `vision_req`; offsets in docs/wire/sensor_request.md.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SensorRequest {
    /// Layout on the wire.
    pub layout: RequestLayout,
    /// Sensor number.
    pub seq_id: u16,
    /// Only in layouts with a bit mask: the properties that an update contains; 0: all.
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
    /// Per-type parameters; the old layout has only the first 8.
    pub other_params: [f32; 16],
}

impl SensorRequest {
    /// Writes the datagram into `buffer` and returns it.
    pub fn emit<'a>(&self, buffer: &'a mut [u8; 148]) -> &'a [u8] {
        let (tag, mut rest) = buffer.split_at_mut(2);
        tag.copy_from_slice(&self.layout.tag().to_le_bytes());
        let mut request = *self;
        request.visit_fields(&mut |field| {
            let (bytes, after) = std::mem::take(&mut rest).split_at_mut(field.len());
            bytes.copy_from_slice(field);
            rest = after;
        });
        rest.fill(0);
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
            _ => return Err(wrong_length(WHAT, RequestLayout::New.len(), bytes)),
        };
        let (tag, mut rest) = bytes.split_at(2);
        let tag = tag.try_into().map(u16::from_le_bytes).unwrap_or_default();
        expect_tag(WHAT, layout.tag().into(), tag.into())?;
        let mut request = Self { layout, ..Self::default() };
        request.visit_fields(&mut |field| {
            let (bytes, after) = rest.split_at(field.len());
            field.copy_from_slice(bytes);
            rest = after;
        });
        Ok(request)
    }

    /// Passes the bytes of each field after the check word to `visit` in wire order, and stores the bytes that `visit` leaves:
    /// [`Self::emit`] and [`Self::parse`] share this list.
    fn visit_fields(&mut self, visit: &mut impl FnMut(&mut [u8])) {
        let is_old = self.layout == RequestLayout::Old;
        visit_u16(visit, [&mut self.seq_id]);
        if self.layout.has_mask() {
            let mut bytes = self.bitmask.to_le_bytes();
            visit(&mut bytes);
            self.bitmask = u32::from_le_bytes(bytes);
        }
        visit_u16(visit, [&mut self.type_id, &mut self.target_copter, &mut self.mount_type]);
        visit_u16(visit, [&mut self.width, &mut self.height, &mut self.check_freq]);
        let send = &mut self.send_protocol;
        visit_u16(visit, [&mut send.mode]);
        visit_u16(visit, &mut send.ip);
        visit_u16(visit, [&mut send.port, &mut send.piece_bytes, &mut send.segmentation]);
        visit_f32(visit, [&mut self.fov_deg]);
        visit_f32(visit, &mut self.position);
        if !is_old {
            visit_f32(visit, [&mut self.eular_or_quat]);
        }
        visit_f32(visit, &mut self.euler);
        if !is_old {
            visit_f32(visit, &mut self.quaternion);
        }
        visit_f32(visit, self.other_params.iter_mut().take(if is_old { 8 } else { 16 }));
    }

    /// Reads the report of a pod camera, which has the long layout.
    pub(super) fn parse_feedback(bytes: &[u8]) -> Result<Self, WireError> {
        let report = Self::parse(bytes)?;
        expect_tag("report of a pod camera", LONG_TAG.into(), report.layout.tag().into())?;
        Ok(report)
    }
}

fn visit_u16<'a>(visit: &mut impl FnMut(&mut [u8]), values: impl IntoIterator<Item = &'a mut u16>) {
    for value in values {
        let mut bytes = value.to_le_bytes();
        visit(&mut bytes);
        *value = u16::from_le_bytes(bytes);
    }
}

fn visit_f32<'a>(visit: &mut impl FnMut(&mut [u8]), values: impl IntoIterator<Item = &'a mut f32>) {
    for value in values {
        let mut bytes = value.to_le_bytes();
        visit(&mut bytes);
        *value = f32::from_le_bytes(bytes);
    }
}
