//! The Python package `turnstone` with Connect Four and a kind of agents beside the built-in ones.

turnstone_python::module!(own_game::ConnectFour; agents: own_game::Careful);
