"""Systems as robot files of other programs: URDF and MJCF."""
