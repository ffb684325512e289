#!/bin/bash
# Sources the workspaces, lowest first, and becomes the command.
set -e
source "/opt/ros/$ROS_DISTRO/setup.bash"
source /opt/rfly_messages/install/setup.bash
source /opt/rfly_bridge/setup.bash
exec "$@"
