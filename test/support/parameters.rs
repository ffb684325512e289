//! Arbitrary requests to the parameter services of a running bridge; used by the property tests and by `fuzz/`.
use rfly_bridge::config::ros_args;
use rfly_bridge::msgs::rcl_interfaces::{
    msg::{Parameter, ParameterValue},
    srv::{
        DescribeParameters, DescribeParametersRequest, GetParameters, GetParametersRequest,
        ListParameters, ListParametersRequest, SetParameters, SetParametersAtomically,
        SetParametersAtomicallyRequest, SetParametersRequest,
    },
};
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{Middleware, Options, Recorder};
use rfly_bridge::wire::Ports;
use std::sync::OnceLock;

/// A bridge without simulator, on ports that the system chooses. All scripts share it: each begins with the parameters that the
/// one before has set.
struct Rig {
    recorder: Recorder,
    services: Vec<(String, &'static str)>,
    names: Vec<String>,
    _bridge: Bridge,
}

static RIG: OnceLock<Rig> = OnceLock::new();

impl Rig {
    fn start() -> Self {
        let words = ["--ros-args", "-p", "simulator_address:=127.0.0.1"];
        let arguments = ros_args::parse(words.map(str::to_owned)).expect("arguments");
        let mut settings = Settings::load(&arguments).expect("settings");
        settings.ports = Ports {
            window: 0,
            coptersim: 0,
            autopilot: 0,
            autopilot_client: 0,
            heartbeat: 0,
            true_state: 0,
            imu: 0,
            report: 0,
            ..Ports::default()
        };
        let (middleware, recorder) =
            Middleware::recorder(&Options::new("rfly_bridge")).expect("a middleware");
        let bridge = Bridge::start(&settings, &middleware).expect("a bridge");
        recorder.count_only();
        let own = |(name, _): &(String, _)| name.starts_with("/rfly_bridge/");
        let services = recorder.services().into_iter().filter(own).collect();
        let all = ListParametersRequest::default();
        let listed = recorder.call::<ListParameters>("/rfly_bridge/list_parameters", &all);
        let names = listed.expect("the service is there").result.names;
        assert!(names.len() > 50);
        Self { recorder, services, names, _bridge: bridge }
    }

    fn call<S: rfly_bridge::msgs::Service>(&self, service: &str, request: &S::Request) {
        let name = format!("/rfly_bridge/{service}");
        let response = self.recorder.call::<S>(&name, request);
        assert!(response.is_some(), "no answer of {service}");
    }
}

/// Plays a script: a request of arbitrary bytes, or one with (usually) existing names and arbitrary values.
pub fn play(script: &[u8]) {
    let rig = RIG.get_or_init(Rig::start);
    let Some((kind, rest)) = script.split_first() else {
        return;
    };
    if kind & 1 == 0 {
        let (service, _) = &rig.services[usize::from(kind >> 1) % rig.services.len()];
        let cdr = [&[0, 1, 0, 0], rest].concat();
        assert!(rig.recorder.ask_cdr(service, &cdr));
        return;
    }
    let parameters: Vec<_> = rest.chunks(12).map(|chunk| rig.parameter(chunk)).collect();
    let names: Vec<_> = parameters.iter().map(|p| p.name.clone()).collect();
    match kind >> 1 & 3 {
        0 => rig.call::<SetParameters>("set_parameters", &SetParametersRequest { parameters }),
        1 => {
            let request = SetParametersAtomicallyRequest { parameters };
            rig.call::<SetParametersAtomically>("set_parameters_atomically", &request);
        }
        2 => rig.call::<GetParameters>("get_parameters", &GetParametersRequest { names }),
        _ => {
            let request = DescribeParametersRequest { names };
            rig.call::<DescribeParameters>("describe_parameters", &request);
        }
    }
}

impl Rig {
    /// Two bytes choose the name, one the type, the rest is the value.
    fn parameter(&self, chunk: &[u8]) -> Parameter {
        let mut bytes = [0; 12];
        bytes[..chunk.len()].copy_from_slice(chunk);
        let [name, further, kind, rest @ ..] = bytes;
        let number = usize::from(u16::from_le_bytes([name, further]));
        let name = match self.names.get(number % (self.names.len() + 1)) {
            Some(name) => name.clone(),
            None => String::from_utf8_lossy(&rest).into_owned(),
        };
        let [a, b, c, d, e, f, g, h, _] = rest;
        let raw = [a, b, c, d, e, f, g, h];
        let number = match a {
            0 => f64::from_le_bytes(raw),
            a => (f64::from(a) - 128.0) / f64::from(b.max(1)),
        };
        let text = String::from_utf8_lossy(&rest).into_owned();
        let mut value = ParameterValue { type_: kind % 11, ..Default::default() };
        match value.type_ {
            1 => value.bool_value = a & 1 == 1,
            2 => value.integer_value = i64::from_le_bytes(raw) >> (b % 64),
            3 => value.double_value = number,
            4 => value.string_value = text,
            5 => value.byte_array_value = rest.to_vec(),
            6 => value.bool_array_value = vec![a & 1 == 1; usize::from(b % 8)],
            7 => value.integer_array_value = vec![i64::from(a); usize::from(b % 8)],
            8 => value.double_array_value = vec![number; usize::from(b % 8)],
            9 => value.string_array_value = vec![text; usize::from(b % 4)],
            // Not set, or a type that does not exist.
            _ => {}
        }
        Parameter { name, value }
    }
}
