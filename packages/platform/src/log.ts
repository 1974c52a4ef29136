import { type DestinationStream, type Logger, pino } from 'pino'
import { loggableError } from './loggable-error.ts'

export type Log = Logger

/** Lines that may wait for a standard output that takes none; what comes on top is lost. */
const WAITING_BYTES_MAX = 1_048_576

/**
 * JSON log lines on standard output. Contents of requests are never logged; these paths are a second guard for error
 * objects of libraries that carry headers. Database errors are logged without values of rows and parameters.
 */
export function openLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service: 'svc', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: loggableError },
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
    destination ?? standardOutput(),
  )
}

function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: WAITING_BYTES_MAX })
  // A closed terminal or a full disk costs the log, never the service: without a listener the error would be thrown.
  output.on('error', () => undefined)
  return output
}
