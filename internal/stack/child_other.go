//go:build !linux

package stack

import "syscall"

// Only Linux can promise it; elsewhere a killed demo leaves its servers behind.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
