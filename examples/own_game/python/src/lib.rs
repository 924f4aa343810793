//! The Python package `turnstone` with Connect Four beside the built-in games.

turnstone_python::module!(own_game::ConnectFour);
