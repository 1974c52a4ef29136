/** The verdict of one rule about one string. `rule` is a stable name, `detail` is for people. */
export interface UpiFinding {
  readonly rule: string
  readonly ok: boolean
  /** How bad it is when `ok` is false: an `error` makes the string unfit, a `warning` loses some apps. */
  readonly level: 'error' | 'warning' | 'info'
  readonly detail: string
}
