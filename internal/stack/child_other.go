//go:build !linux

package stack

import "syscall"

// Only Linux can promise it; elsewhere a killed demo leaves its servers behind.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// Nor can another say when the last thread has stopped.
func standsStill(int) error { return nil }
