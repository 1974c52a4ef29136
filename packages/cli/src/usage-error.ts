/** A mistake of the person at the keyboard: reported in one line, exit code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Exit codes of commands that call a server; 2 is for settings that are wrong. */
export const EXIT = { refused: 1, unreachable: 3, notSignedIn: 4 } as const

interface RemoteFacts {
  /** The server's error code, or `unreachable` or `not_signed_in`. */
  readonly code: string
  readonly exitCode: number
  readonly status?: number
  readonly requestId?: string
  readonly cause?: unknown
}

/** A request that the server refused, or that did not reach it. */
export class RemoteError extends UsageError {
  override name = 'RemoteError'
  readonly code: string
  readonly exitCode: number
  readonly status: number | undefined
  readonly requestId: string | undefined

  constructor(message: string, { code, exitCode, status, requestId, cause }: RemoteFacts) {
    super(message, { cause })
    this.code = code
    this.exitCode = exitCode
    this.status = status
    this.requestId = requestId
  }
}

export const notSignedIn = (message: string): RemoteError =>
  new RemoteError(message, { code: 'not_signed_in', exitCode: EXIT.notSignedIn })
