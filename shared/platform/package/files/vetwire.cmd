@echo off
"%~dp0..\runtime\node.exe" "%~dp0..\app\shared\main.js" %*
