// Package edgetest holds the edge's configuration to its promises: the machine's
// own nginx before a whole house. It is tests alone.
package edgetest
