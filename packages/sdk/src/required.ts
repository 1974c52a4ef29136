/**
 * Checks an option that a caller in JavaScript may have left out, often as an environment variable that is not set.
 *
 * @throws TypeError that names the option, never its value
 */
export function requireText(name: string, value: unknown): void {
  if (value === undefined || value === null) throw new TypeError(`${name} is missing`)
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} must be a non-empty string`)
}

/**
 * Refuses a secret in a web page, where every visitor can read it.
 *
 * @throws TypeError that names the option, never its value
 */
export function refuseInBrowsers(name: string): void {
  if ('window' in globalThis && 'document' in globalThis)
    throw new TypeError(
      `${name} must not be used in a browser, where every visitor can read it. Create the client on your server`,
    )
}

/**
 * Checks a limit that may have been read from a setting that is not there: `NaN` would be no limit, or one of 1 ms.
 *
 * @throws TypeError that names the option
 */
export function requireNumber(name: string, value: unknown): void {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`${name} must be a number`)
}
