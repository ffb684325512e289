//! Measurements of the sensors: rays through the scene, turned into wire payloads.
mod camera;
mod daylight;
mod encode;
mod lidar;
mod noise;
mod objects;
mod palette;
mod scan;
mod texture;

pub use palette::class_colour;

pub(super) use encode::{encode, encoding_of};

use super::options::{EmulatorOptions, LivoxPattern};
use super::world::{Caster, Hit, Pose, RayBundle, Scene, Snapshot, Solid};
use super::{random::SplitMix, sensor::rate};
use crate::wire::{self, Payload, SensorKind, SensorRequest};
use daylight::Daylight;
use lidar::{CloudFrame, CloudLayout};
use noise::RangeNoise;
use scan::Sweep;
use std::sync::Arc;
use texture::Texture;

/// Ray pattern of a sensor; sensors with the same pattern share its rays, unless they change with each frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RayPattern {
    /// Pattern of a pinhole or a fisheye camera.
    Image {
        lens: wire::Optics,
        width: u16,
        height: u16,
        fov_deg: f32,
    },
    Rings {
        points: u16,
        rings: u16,
        angles: [f32; 4],
    },
    Mid40 {
        points: u16,
        petals: u16,
        fov_deg: f32,
        params: [f32; 16],
        /// Rotation of the frame's pattern about the axis, in degrees.
        turn_deg: f64,
    },
    Mid360,
    /// Pattern of the Mid-40 that changes over time.
    Rosette {
        points: usize,
        fov_deg: f64,
        sweep: Sweep,
    },
    /// Pattern of the Mid-360 that changes over time.
    Winding {
        sweep: Sweep,
    },
}

impl RayPattern {
    /// Returns the ray pattern of a sensor, or `None` for one that reports objects; `draw` is a random number of the frame
    /// from 0 to 1.
    fn of(request: &SensorRequest, draw: f64) -> Option<Self> {
        let SensorRequest { width, height, fov_deg, other_params: params, .. } = *request;
        let row = SensorKind::from_type_id(request.type_id)?.row();
        if let Payload::Range | Payload::Boxes | Payload::Targets = row.payload {
            return None;
        }
        Some(match row.optics {
            lens @ (wire::Optics::Pinhole | wire::Optics::Fisheye) => {
                Self::Image { lens, width, height, fov_deg }
            }
            wire::Optics::Rings => Self::Rings {
                points: width,
                rings: height,
                angles: [params[2], params[3], params[4], params[5]],
            },
            wire::Optics::Rosette => Self::Mid40 {
                points: width,
                petals: height,
                fov_deg,
                params,
                turn_deg: draw * f64::from(params[6]),
            },
            wire::Optics::Mid360 => Self::Mid360,
            wire::Optics::None => return None,
        })
    }

    /// Returns the pattern of the frame at simulation time `time` in s, which may depend on the time.
    fn at(self, time: f64, request: &SensorRequest, pattern: LivoxPattern) -> Self {
        let sweep = Sweep { end: time, period: 1.0 / rate(request) };
        match (pattern, self) {
            (LivoxPattern::Rosette, Self::Mid40 { points, petals, fov_deg, .. }) => Self::Rosette {
                points: usize::from(points) * usize::from(petals),
                fov_deg: lidar::mid40_fov(fov_deg),
                sweep,
            },
            (LivoxPattern::Rosette, Self::Mid360) => Self::Winding { sweep },
            _ => self,
        }
    }

    /// Whether no other frame has the same rays.
    fn is_unique(self) -> bool {
        match self {
            Self::Rosette { .. } | Self::Winding { .. } => true,
            Self::Mid40 { turn_deg, .. } => turn_deg != 0.0,
            _ => false,
        }
    }

    fn build(self) -> RayBundle {
        match self {
            Self::Image { lens: wire::Optics::Fisheye, width, height, fov_deg } => {
                camera::fisheye(width, height, fov_deg)
            }
            Self::Image { width, height, fov_deg, .. } => camera::pinhole(width, height, fov_deg),
            Self::Rings { points, rings, angles } => lidar::rings(points, rings, angles),
            Self::Mid40 { points, petals, fov_deg, params, turn_deg } => {
                lidar::mid40(points, petals, fov_deg, &params, turn_deg)
            }
            Self::Mid360 => lidar::mid360(),
            Self::Rosette { points, fov_deg, sweep } => scan::mid40(points, fov_deg, sweep),
            Self::Winding { sweep } => scan::mid360(sweep),
        }
    }
}

/// Rays cast from one pose, shared by all sensors at that pose.
struct RayView {
    id: u64,
    bundle: Arc<RayBundle>,
    pose: Pose,
    carrier: Option<u16>,
    caster: Caster,
    hits: Vec<Hit>,
}

/// Renders payloads; caches rays, and the views of the current tick.
pub(super) struct Renderer {
    options: EmulatorOptions,
    /// Created when a camera first needs it.
    texture: Option<Arc<Texture>>,
    bundles: Vec<(RayPattern, Arc<RayBundle>)>,
    views: Vec<RayView>,
    /// Scene and moving solids of the views.
    drawn: Option<(Arc<Scene>, Vec<Solid>)>,
    spare_hits: Vec<Vec<Hit>>,
    last_id: u64,
}

/// Identity of a payload's contents: equal ids of one sensor mean equal bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PayloadId(u64);

impl Renderer {
    pub(super) fn new(options: &EmulatorOptions) -> Self {
        Self {
            options: options.clone(),
            texture: None,
            bundles: Vec::new(),
            views: Vec::new(),
            drawn: None,
            spare_hits: Vec::new(),
            last_id: 0,
        }
    }

    /// Starts a tick. Keeps the views if nothing has moved.
    pub(super) fn begin(&mut self, snapshot: &Snapshot) {
        /// A rotating camera creates a view per frame, and old views are useless.
        const MAX_VIEWS: usize = 64;
        let is_same = (self.drawn.as_ref()).is_some_and(|(scene, moving)| {
            Arc::ptr_eq(scene, &snapshot.scene) && *moving == snapshot.moving
        });
        if !is_same || self.views.len() > MAX_VIEWS {
            self.drawn = Some((Arc::clone(&snapshot.scene), snapshot.moving.clone()));
            self.spare_hits.extend(self.views.drain(..).map(|v| v.hits));
        }
    }

    fn daylight(&mut self, kind: Option<SensorKind>, scene: &Scene) -> Daylight {
        use SensorKind::{Fisheye, Grey, Pod, Rgb};
        let is_daylight = matches!(kind, Some(Rgb | Grey | Fisheye | Pod));
        if !(is_daylight && scene.has_textures()) {
            return Daylight::Plain;
        }
        let seed = self.options.seed;
        let draw = || Arc::new(Texture::new(seed));
        Daylight::Textured(Arc::clone(self.texture.get_or_insert_with(draw)))
    }

    /// Writes the uncompressed measurement of a sensor at `pose` into `out`, unless its id is `known`.
    pub(super) fn payload(
        &mut self,
        snapshot: &Snapshot,
        request: &SensorRequest,
        (pose, carrier): (&Pose, Option<u16>),
        known: Option<PayloadId>,
        out: &mut Vec<u8>,
    ) -> PayloadId {
        let params = &request.other_params;
        let kind = SensorKind::from_type_id(request.type_id);
        let mut random =
            SplitMix::of_frame(self.options.seed, request.seq_id.into(), snapshot.time);
        let Some(rays) = RayPattern::of(request, random.unit()) else {
            let caster = Caster::new(snapshot, pose, carrier);
            match kind {
                Some(SensorKind::Range) => objects::range(snapshot, &caster, pose, params[0], out),
                Some(SensorKind::Detections) => {
                    objects::boxes(snapshot, request, &caster, pose, carrier, out)
                }
                _ => objects::targets(snapshot, request, pose, carrier, out),
            }
            return self.new_id();
        };
        if self.options.pattern && encoding_of(request, false).is_image() {
            return test_image(request, known, out);
        }
        let daylight = self.daylight(kind, &snapshot.scene);
        let noise = RangeNoise::new(self.options.lidar_noise, random);
        // With noise no two frames are equal.
        let has_noise = self.options.lidar_noise > 0.0 && is_lidar(kind);
        let unique_id = has_noise.then(|| self.new_id());
        let rays = rays.at(snapshot.time, request, self.options.livox_pattern);
        let axes = self.options.axes;
        let layout =
            CloudLayout::new(self.options.cloud_format.of(request), axes, snapshot, pose, carrier);
        let view = self.view(snapshot, rays, pose, carrier);
        let id = unique_id.unwrap_or(PayloadId(view.id));
        if known == Some(id) {
            return id;
        }
        match kind {
            Some(SensorKind::Depth) => camera::depth(view, [params[0], params[1], params[2]], out),
            Some(SensorKind::Grey) => camera::paint(view, out, |hit, ray| {
                [palette::grey(daylight.colour(view, hit, ray))]
            }),
            Some(SensorKind::Segmentation) => camera::paint(view, out, |hit, _| {
                palette::class_colour(palette::class(&view.caster, hit))
            }),
            Some(SensorKind::DepthCloud) => {
                let range_and_step = [params[0], params[1]];
                lidar::depth_cloud(view, layout, axes.depth, request.width, range_and_step, out)
            }
            Some(SensorKind::Lidar | SensorKind::Mid40 | SensorKind::Mid360) => {
                lidar::cloud(view, layout, params[0], CloudFrame::Sensor, noise, out)
            }
            Some(SensorKind::GlobalLidar) => {
                lidar::cloud(view, layout, params[0], CloudFrame::World, noise, out)
            }
            Some(SensorKind::Infrared) => {
                camera::paint(view, out, |hit, _| [palette::warmth(&view.caster, hit)])
            }
            Some(SensorKind::Thermal) => camera::paint(view, out, |hit, _| {
                palette::thermal(palette::warmth(&view.caster, hit))
            }),
            Some(SensorKind::Rgb | SensorKind::Fisheye | SensorKind::Pod) => {
                camera::paint(view, out, |hit, ray| daylight.colour(view, hit, ray))
            }
            // These sensors have no rays.
            Some(SensorKind::Range | SensorKind::Detections | SensorKind::Targets) | None => {}
        }
        id
    }

    fn new_id(&mut self) -> PayloadId {
        self.last_id += 1;
        PayloadId(self.last_id)
    }

    fn view(
        &mut self,
        snapshot: &Snapshot,
        rays: RayPattern,
        pose: &Pose,
        carrier: Option<u16>,
    ) -> &RayView {
        let bundle = self.bundle(rays);
        let found = self.views.iter().position(|v| {
            Arc::ptr_eq(&v.bundle, &bundle) && v.pose == *pose && v.carrier == carrier
        });
        let index = found.unwrap_or_else(|| {
            let caster = Caster::new(snapshot, pose, carrier);
            let mut hits = self.spare_hits.pop().unwrap_or_default();
            caster.cast(&bundle, &mut hits);
            self.last_id += 1;
            let id = self.last_id;
            self.views.push(RayView { id, bundle, pose: *pose, carrier, caster, hits });
            self.views.len() - 1
        });
        &self.views[index]
    }

    fn bundle(&mut self, rays: RayPattern) -> Arc<RayBundle> {
        /// A changing zoom creates a pattern per frame; the oldest are dropped.
        const MAX_BUNDLES: usize = 32;
        if rays.is_unique() {
            return Arc::new(rays.build());
        }
        if let Some((_, bundle)) = self.bundles.iter().find(|(other, _)| *other == rays) {
            return Arc::clone(bundle);
        }
        if self.bundles.len() >= MAX_BUNDLES {
            self.bundles.remove(0);
        }
        let bundle = Arc::new(rays.build());
        self.bundles.push((rays, Arc::clone(&bundle)));
        bundle
    }
}

fn is_lidar(kind: Option<SensorKind>) -> bool {
    use SensorKind::{GlobalLidar, Lidar, Mid40, Mid360};
    matches!(kind, Some(Lidar | GlobalLidar | Mid40 | Mid360))
}

/// Creates a test image once, then only counts frames in its first 8 bytes; compressed images stay unchanged.
fn test_image(request: &SensorRequest, known: Option<PayloadId>, out: &mut Vec<u8>) -> PayloadId {
    let encoding = encoding_of(request, false);
    let row = usize::from(request.width) * encoding.bytes_per_pixel();
    let len = row * usize::from(request.height);
    let count = match known {
        Some(PayloadId(count)) if out.len() == len => count + 1,
        _ => {
            out.clear();
            out.extend((0..len).map(|i| ((i % row.max(1)) ^ (i / row.max(1))) as u8));
            0
        }
    };
    if let Some(stamp) = out.first_chunk_mut() {
        *stamp = count.to_le_bytes();
    }
    PayloadId(count)
}
