import { onTestFailed } from 'vitest'

/** The log of each service that a test runs, by its address. */
const logs = new Map<string, () => string>()

/** The service at this address writes its log there, so that a test that meets a 500 can show the cause. */
export const keepLog = (baseUrl: string, logged: () => string): void => void logs.set(baseUrl, logged)

/** Prints the cause of a 500 from the service's log when the test fails; at once where no test is running. */
export function explain(baseUrl: string, request: string, status: number, requestId: unknown): void {
  const logged = logs.get(baseUrl)
  if (status !== 500 || !logged) return
  const print = () => console.error(`${request} returned 500 (${requestId}). ${causeOf(logged(), requestId)}`)
  try {
    onTestFailed(print)
  } catch {
    // In a hook of the file there is no test that could fail.
    print()
  }
}

function causeOf(log: string, requestId: unknown): string {
  const line = log
    .split('\n')
    .find((text) => text.includes(`"requestId":"${requestId}"`) && text.includes('"err":'))
  if (!line) return 'Its cause is not in the log.'
  const { operation, err } = JSON.parse(line) as {
    operation: string
    err: { message: string; stack?: string }
  }
  const { stack, ...rest } = err
  return `Its cause, from the log (${operation}):\n${stack ?? err.message}\n${JSON.stringify(rest)}`
}
