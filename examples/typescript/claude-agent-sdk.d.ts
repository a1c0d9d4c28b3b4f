// This repository does not install the Claude Agent SDK, which brings several hundred megabytes. A program that does has its
// types.
declare module '@anthropic-ai/claude-agent-sdk';
