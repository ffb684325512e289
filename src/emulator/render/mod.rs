//! What sensors measure: rays through the scene, turned into the payloads of the wire.
mod camera;

use super::world::{Caster, Hit, Pose, RayBundle, Snapshot};
use crate::wire::SensorRequest;
use std::sync::Arc;

/// Optics that are built once and shared by all sensors that have them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Optics {
    Pinhole {
        width: u16,
        height: u16,
        fov_deg: f32,
    },
    Fisheye {
        width: u16,
        height: u16,
        fov_deg: f32,
    },
}

/// Rays that were cast from one pose, for all sensors that look from there.
struct View {
    bundle: Arc<RayBundle>,
    pose: Pose,
    own: Option<u16>,
    caster: Caster,
    hits: Vec<Hit>,
}

/// Renders payloads; keeps optics, and the views of the current tick.
pub(super) struct Renderer {
    pattern: bool,
    optics: Vec<(Optics, Arc<RayBundle>)>,
    views: Vec<View>,
}

impl Renderer {
    pub(super) fn new(pattern: bool) -> Self {
        Self {
            pattern,
            optics: Vec::new(),
            views: Vec::new(),
        }
    }

    /// Starts a tick: what was seen before counts no more.
    pub(super) fn begin(&mut self, _snapshot: &Snapshot) {
        self.views.clear();
    }

    /// Writes what a sensor at `pose` measures, uncompressed, into `out`.
    pub(super) fn payload(
        &mut self,
        snapshot: &Snapshot,
        request: &SensorRequest,
        pose: &Pose,
        own: Option<u16>,
        out: &mut Vec<u8>,
    ) {
        let _ = self.pattern;
        let (width, height, fov_deg) = (request.width, request.height, request.fov_deg);
        let optics = match request.type_id {
            8 => Optics::Fisheye {
                width,
                height,
                fov_deg,
            },
            _ => Optics::Pinhole {
                width,
                height,
                fov_deg,
            },
        };
        let view = self.view(snapshot, optics, pose, own);
        let (bundle, caster, hits) = (&view.bundle, &view.caster, &view.hits);
        match request.type_id {
            4 => camera::paint(bundle, caster, hits, out, |hit, _| {
                camera::class_colour(camera::class(hit))
            }),
            _ => camera::paint(bundle, caster, hits, out, camera::colour),
        }
    }

    fn view(
        &mut self,
        snapshot: &Snapshot,
        optics: Optics,
        pose: &Pose,
        own: Option<u16>,
    ) -> &View {
        let bundle = self.bundle(optics);
        let found = self
            .views
            .iter()
            .position(|v| Arc::ptr_eq(&v.bundle, &bundle) && v.pose == *pose && v.own == own);
        let index = found.unwrap_or_else(|| {
            let caster = Caster::new(snapshot, pose, own);
            let mut hits = Vec::new();
            caster.cast(&bundle, &mut hits);
            self.views.push(View {
                bundle,
                pose: *pose,
                own,
                caster,
                hits,
            });
            self.views.len() - 1
        });
        &self.views[index]
    }

    fn bundle(&mut self, optics: Optics) -> Arc<RayBundle> {
        /// More optics than sensors means that somebody turns a zoom; the oldest go.
        const MAX_OPTICS: usize = 32;
        if let Some((_, bundle)) = self.optics.iter().find(|(o, _)| *o == optics) {
            return Arc::clone(bundle);
        }
        let bundle = Arc::new(match optics {
            Optics::Pinhole {
                width,
                height,
                fov_deg,
            } => camera::pinhole(width, height, fov_deg),
            Optics::Fisheye {
                width,
                height,
                fov_deg,
            } => camera::fisheye(width, height, fov_deg),
        });
        if self.optics.len() >= MAX_OPTICS {
            self.optics.remove(0);
        }
        self.optics.push((optics, Arc::clone(&bundle)));
        bundle
    }
}
