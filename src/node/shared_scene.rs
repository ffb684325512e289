//! The shared scene: services change it, sources of vehicles update the vehicles, a new map notifies the sensors.
use super::settings::Settings;
use crate::frames::WorldConvention;
use crate::scene::{MapFrame, Scene, SceneSettings, find_world};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Clone)]
pub(super) struct SharedScene {
    scene: Arc<Mutex<Scene>>,
    maps: watch::Sender<u64>,
}

impl SharedScene {
    /// Creates a scene in the frame `map` with these axes.
    pub(super) fn new(settings: &Settings, map: &str, world: WorldConvention) -> Self {
        let params = &settings.params.scene;
        let library = settings.origin.library.clone();
        let scene = Scene::new(SceneSettings {
            // The parameters are checked already; an empty name is no map.
            world: find_world(&params.world, &library.worlds)
                .ok()
                .filter(|_| !params.world.is_empty()),
            library,
            frame: MapFrame { name: map.to_owned(), world },
            ids: params.ids.clone(),
            vehicles: settings.vehicles(),
            created: settings.origin.created.clone(),
        });
        Self { scene: Arc::new(Mutex::new(scene)), maps: watch::Sender::new(0) }
    }

    /// Locks the scene; never held across I/O.
    pub(super) fn lock(&self) -> MutexGuard<'_, Scene> {
        self.scene.lock()
    }

    /// Records that the renderer shows another map.
    pub(super) fn change_map(&self) {
        self.maps.send_modify(|count| *count += 1);
    }

    /// Returns a receiver that reports each new map.
    pub(super) fn maps(&self) -> watch::Receiver<u64> {
        self.maps.subscribe()
    }
}
