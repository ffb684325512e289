//! Bytes of the simulator, against recordings of the vendor's SDK and against `structs.json`.
mod clouds;
mod console;
mod control;
mod coptersim;
mod garbage;
mod image;
mod layout;
mod mavlink;
mod model_inputs;
mod protocols;
mod requests;
mod scene;
mod shared_memory;
mod telemetry;
