#include "command.hpp"

int main(int argc, char** argv) { return afar::cli::run_verb({argv + (argc > 0), argv + argc}); }
