//! What a vehicle says of itself, converted. One vehicle, one namespace.
mod ground_truth;

pub use ground_truth::{
    GroundTruth, PATH_LENGTH, PATH_PERIOD, PATH_STEP_M, TRUTH_TOPICS, Trail, TruthTopic, odometry,
};
