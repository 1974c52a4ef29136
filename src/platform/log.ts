import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/**
 * JSON log lines on standard output. What a request carries is never logged, so there is little to redact; these paths
 * stand behind that rule, for an error object of a library that brings its own headers along.
 */
export function openLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service: 'svc', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          '*.headers',
          '*.authorization',
          '*.password',
          '*.token',
          '*.apiKey',
          '*.cookie',
          'err.client',
          'err.config',
        ],
        censor: '[redacted]',
      },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  )
}
