//! Appearance of objects to each kind of camera. Colours are blue, green, red.
use crate::emulator::world::{Caster, Hit, Object, Vec3};

pub(super) const SKY: [u8; 3] = [235, 190, 140];

/// Returns the colour of an object without texture in daylight, by its class `paint`; `point` returns the position of the
/// hit, NED.
pub(super) fn plain(object: Object, paint: u8, hit: &Hit, point: impl Fn() -> Vec3) -> [u8; 3] {
    if object != Object::Ground {
        return shade(class_colour(paint), hit.face);
    }
    let point = point();
    let is_odd = (point.x.floor() as i64 + point.y.floor() as i64) & 1 != 0;
    if is_odd { [60, 110, 70] } else { [85, 150, 100] }
}

/// Darkens the faces of a box differently, as under a sun in the south-west.
fn shade(colour: [u8; 3], face: u8) -> [u8; 3] {
    const PERCENT: [u16; 7] = [60, 70, 45, 85, 75, 100, 100];
    let percent = PERCENT.get(usize::from(face)).copied().unwrap_or(100);
    colour.map(|c| (u16::from(c) * percent / 100) as u8)
}

/// Returns the grey value of a colour (ITU-R BT.601).
pub(super) fn grey([blue, green, red]: [u8; 3]) -> u8 {
    ((u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114 + 500) / 1000) as u8
}

/// Returns the colour of a class in segmentation images; every class has its own, 0 is black.
pub fn class_colour(class: u8) -> [u8; 3] {
    // Multiplication by odd numbers permutes 0..=255, so that each channel alone distinguishes classes.
    [class.wrapping_mul(67), class.wrapping_mul(151), class.wrapping_mul(97)]
}

/// Returns the class of a hit of `caster`; 0 for no hit.
#[inline]
pub(super) fn class(caster: &Caster, hit: &Hit) -> u8 {
    match hit.object {
        None => 0,
        Some(_) => caster.stencil(hit).unwrap_or_else(|| caster.paint(hit)),
    }
}

/// Returns the apparent temperature of an object, 0 to 255: its stencil value if a command set one, otherwise a cold
/// sky, cool ground, hot vehicles.
pub(super) fn warmth(caster: &Caster, hit: &Hit) -> u8 {
    if let (Some(_), Some(stencil)) = (hit.object, caster.stencil(hit)) {
        return stencil;
    }
    match hit.object {
        None => 8,
        Some(Object::Ground) => 90,
        Some(Object::Slope) => 94,
        Some(Object::Wall(_)) => 130,
        Some(Object::Building) => 142,
        Some(Object::Trunk(_)) => 78,
        Some(Object::Crown(_)) => 64,
        Some(Object::Block(i)) => 110 + (i % 8) as u8 * 6,
        Some(Object::Walker(_)) => 200,
        Some(Object::Vehicle(_)) => 240,
    }
}

/// Returns the false colour of a warmth: blue, magenta, red, yellow, white.
pub(super) fn thermal(warmth: u8) -> [u8; 3] {
    const STOPS: [[u8; 3]; 5] =
        [[64, 0, 0], [160, 0, 120], [0, 0, 255], [0, 255, 255], [255, 255, 255]];
    let (stop, part) = (usize::from(warmth / 64), u16::from(warmth % 64));
    let (from, to) = (STOPS[stop], STOPS[stop + 1]);
    std::array::from_fn(|i| {
        ((u16::from(from[i]) * (64 - part) + u16::from(to[i]) * part) / 64) as u8
    })
}
