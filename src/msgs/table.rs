//! Every message, service and action type, once. The implementations of [`Message`](super::Message),
//! [`Service`](super::Service) and [`Action`](super::Action), the lists and the tests are made from these names.

/// Expands to the given item or statement, unless the workspace lacks the package named first (`build.rs`).
#[doc(hidden)]
#[macro_export]
macro_rules! where_built {
    (grid_map_msgs $($code:tt)+) => { #[cfg(has_grid_map_msgs)] $($code)+ };
    (livox_ros_driver2 $($code:tt)+) => { #[cfg(has_livox_ros_driver2)] $($code)+ };
    (rfly_bridge_msgs $($code:tt)+) => { #[cfg(has_rfly_bridge_msgs)] $($code)+ };
    (simulation_interfaces $($code:tt)+) => { #[cfg(has_simulation_interfaces)] $($code)+ };
    (visualization_msgs $($code:tt)+) => { #[cfg(has_visualization_msgs)] $($code)+ };
    ($package:ident $($code:tt)+) => { $($code)+ };
}

/// Calls a macro with every message, by package.
#[doc(hidden)]
#[macro_export]
macro_rules! every_message_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            action_msgs { GoalInfo GoalStatus GoalStatusArray }
            builtin_interfaces { Duration Time }
            diagnostic_msgs { DiagnosticArray DiagnosticStatus KeyValue }
            geographic_msgs { GeoPoint GeoPointStamped GeoPose GeoPoseStamped }
            geometry_msgs {
                Accel AccelStamped AccelWithCovariance AccelWithCovarianceStamped Point PointStamped Pose PoseStamped
                PoseWithCovariance PoseWithCovarianceStamped Quaternion QuaternionStamped Transform TransformStamped Twist
                TwistStamped TwistWithCovariance TwistWithCovarianceStamped Vector3 Vector3Stamped
            }
            grid_map_msgs { GridMap GridMapInfo }
            livox_ros_driver2 { CustomMsg CustomPoint }
            mavros_msgs {
                ActuatorControl Altitude AttitudeTarget CompanionProcessStatus DebugValue EstimatorStatus ExtendedState GPSRAW
                GlobalPositionTarget HilActuatorControls HomePosition ManualControl Mavlink MountControl NavControllerOutput
                OverrideRCIn ParamEvent ParamValue PositionTarget RCIn RCOut State StatusEvent StatusText SysStatus Thrust
                TimesyncStatus VehicleInfo VfrHud Vibration Waypoint WaypointList WaypointReached
            }
            nav_msgs { MapMetaData OccupancyGrid Odometry Path }
            rcl_interfaces {
                FloatingPointRange IntegerRange ListParametersResult Log Parameter ParameterDescriptor ParameterEvent
                ParameterValue SetParametersResult
            }
            rosgraph_msgs { Clock }
            sensor_msgs {
                BatteryState CameraInfo CompressedImage FluidPressure Image Imu JointState LaserScan MagneticField NavSatFix
                NavSatStatus PointCloud2 PointField Range RegionOfInterest Temperature TimeReference
            }
            simulation_interfaces {
                Bounds EntityCategory EntityFilters EntityInfo EntityState NamedPose Resource Result SimulationState
                SimulatorFeatures SpawnEntity SpawnResult Spawnable TagsFilter WorldResource
            }
            std_msgs { Bool ColorRGBA Float32 Float64 Header Int32 Int64 String UInt8 UInt16 UInt32 UInt64 }
            tf2_msgs { TFMessage }
            trajectory_msgs { MultiDOFJointTrajectory MultiDOFJointTrajectoryPoint }
            unique_identifier_msgs { UUID }
            vision_msgs {
                BoundingBox2D BoundingBox3D Detection2D Detection2DArray Detection3D Detection3DArray ObjectHypothesis
                ObjectHypothesisWithPose
            }
            visualization_msgs { Marker MarkerArray }
            rfly_bridge_msgs {
                ActiveFault ActiveFaults Attachment BridgeStats CameraReport ClockStats Collision CustomData DropCount
                EntityStates FleetReady ModelCommand ModelDoubles ModelInputs ModelOutput ModelParameters ModelRays ModelUorb
                ModelValues NetSimData NetSimRequest NetSimState SourceStats ThermalClass VehicleReady VehicleReport
            }
        }
    };
}

/// Calls a macro with every service, by package.
#[doc(hidden)]
#[macro_export]
macro_rules! every_service_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            action_msgs { CancelGoal }
            mavros_msgs {
                CommandAck CommandBool CommandHome CommandInt CommandLong CommandTOL CommandTOLLocal CommandTriggerControl
                CommandTriggerInterval CommandVtolTransition LogRequestData LogRequestEnd LogRequestList MessageInterval
                MountConfigure ParamPull ParamSetV2 SetMavFrame SetMode StreamRate VehicleInfoGet WaypointClear WaypointPull
                WaypointPush WaypointSetCurrent
            }
            rcl_interfaces {
                DescribeParameters GetParameterTypes GetParameters ListParameters SetParameters SetParametersAtomically
            }
            sensor_msgs { SetCameraInfo }
            simulation_interfaces {
                DeleteEntity GetAvailableWorlds GetCurrentWorld GetEntities GetEntitiesStates GetEntityBounds GetEntityInfo
                GetEntityState GetNamedPoseBounds GetNamedPoses GetSimulationState GetSimulatorFeatures GetSpawnables
                LoadWorld ResetSimulation SetEntityInfo SetEntityState SetSimulationState SpawnEntities SpawnEntity
                StepSimulation UnloadWorld
            }
            std_srvs { SetBool Trigger }
            rfly_bridge_msgs {
                AddSensor Attach ClearFaults DescribeAll GetHeight InjectFault LoadByName PublishTerrain SceneCommand
                SetActuators SetGeoOrigin SetGeoPlace SetLabel SetSize SetStencil SetTemperatures SetUdpMode SetVehiclePose
                SetView ShowMessage
            }
        }
    };
}

/// Calls a macro with every action, by package.
#[doc(hidden)]
#[macro_export]
macro_rules! every_action_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            simulation_interfaces { SimulateSteps }
        }
    };
}
