//! `set_camera_info` beside the image of a camera: calibration programs send their result to this service.
use crate::config::{ParamValue, SensorConfig};
use crate::msgs::sensor_msgs::srv::{SetCameraInfo, SetCameraInfoRequest, SetCameraInfoResponse};
use crate::node::settings::{Settings, SettingsWatch};
use crate::node::{calibrations, context::Context, parameter_requests::ParameterRequests};
use crate::ros::{Middleware, Responder, RosError, ServiceHandle};
use crate::sensors::{Calibration, Size, spec_of};

const SERVICE: &str = "set_camera_info";
/// Row of docs/topics.md.
pub(super) const ROW: &str = "\
| cameras | | `/rflysim/sensor<N>/set_camera_info` | `sensor_msgs/srv/SetCameraInfo` | | | all | service: saves a calibration at \
`sensor<N>.camera_info_url`, and uses it at once ([sensors.md](sensors.md#your-own-calibration)) |
";
const INFO: &str = "camera_info";

pub(super) struct CameraInfoServices {
    middleware: Middleware,
    settings: SettingsWatch,
    parameter_requests: ParameterRequests,
}

impl CameraInfoServices {
    pub(super) fn new(context: &Context<'_>) -> Self {
        Self {
            middleware: context.middleware.clone(),
            settings: context.watch(),
            parameter_requests: context.parameter_requests.clone(),
        }
    }

    /// Opens the service of a sensor; `None` if it is not a camera or has no `camera_info`.
    pub(super) fn open(
        &self,
        settings: &Settings,
        sensor: &SensorConfig,
    ) -> Result<Option<ServiceHandle>, RosError> {
        if !sensor.kind.is_camera() {
            return Ok(None);
        }
        let Some(name) = service_name(&settings.sensor_topic(sensor), sensor) else {
            return Ok(None);
        };
        let camera = CameraInfoService {
            seq_id: sensor.seq_id,
            settings: self.settings.clone(),
            parameter_requests: self.parameter_requests.clone(),
        };
        let answer = move |request: SetCameraInfoRequest, responder: Responder<SetCameraInfo>| {
            responder.respond(camera.answer(&request));
        };
        let service = self.middleware.service::<SetCameraInfo>(&name, answer)?;
        Ok(Some(service))
    }
}

/// Returns the name of the service, beside the topic `camera_info`.
fn service_name(main: &str, sensor: &SensorConfig) -> Option<String> {
    let spec = spec_of(sensor.kind);
    let topics = spec.topics.iter().map(|topic| spec.topic_name(topic, main));
    let mut namespaces = topics.filter_map(|name| Some(name.strip_suffix(INFO)?.to_owned()));
    namespaces.next().map(|namespace| namespace + SERVICE)
}

struct CameraInfoService {
    seq_id: u16,
    settings: SettingsWatch,
    parameter_requests: ParameterRequests,
}

impl CameraInfoService {
    fn answer(&self, request: &SetCameraInfoRequest) -> SetCameraInfoResponse {
        let (success, status_message) = match self.save(request) {
            Ok(url) => (true, format!("saved to {url}; it takes effect now")),
            Err(why) => (false, why),
        };
        if success {
            tracing::info!("sensor{}: {SERVICE}: {status_message}", self.seq_id)
        } else {
            tracing::warn!("sensor{}: {SERVICE}: {status_message}", self.seq_id)
        }
        SetCameraInfoResponse { success, status_message }
    }

    /// Saves the calibration, and sets the parameter to its URL.
    fn save(&self, request: &SetCameraInfoRequest) -> Result<String, String> {
        let calibration = Calibration::from_info(&request.camera_info);
        let calibration = calibration.map_err(|problems| problems.join("; "))?;
        let (size, url) = {
            let settings = self.settings.borrow();
            let sensor = settings.sensors.iter().find(|s| s.seq_id == self.seq_id);
            let size = sensor.map(Size::from);
            (size, settings.params.sensor(self.seq_id).camera_info_url)
        };
        if let Some(why) = size.and_then(|size| calibration.misfit(size)) {
            return Err(format!("the calibration {why}"));
        }
        let url = calibrations::save(&url.unwrap_or_default(), self.seq_id, &calibration)?;
        let name = format!("sensor{}.camera_info_url", self.seq_id);
        self.parameter_requests.request(self.seq_id, name, ParamValue::Str(url.clone()));
        Ok(url)
    }
}
