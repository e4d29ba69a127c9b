@echo off
rem Agent and server both have this command, and one may be of a later version: each program runs from its own package.
setlocal
set "own=%~dp0.."
if "%~1"=="agent" set "own=%ProgramFiles%\Vetwire Agent"
if "%~1"=="doctor" set "own=%ProgramFiles%\Vetwire Agent"
if "%~1"=="pair" set "own=%ProgramFiles%\Vetwire Agent"
if "%~1"=="server" set "own=%ProgramFiles%\Vetwire Server"
if not exist "%own%\runtime\node.exe" set "own=%~dp0.."
"%own%\runtime\node.exe" "%own%\app\shared\main.js" %*
