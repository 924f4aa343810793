//! The Python package `turnstone` with Connect Four, a kind of agents and one of networks beside the built-in ones.

turnstone_python::module!(own_game::ConnectFour; agents: own_game::Careful; networks: own_game::Overview);
