import Bowser from 'bowser'

const UNKNOWN = 'Unknown browser'

/** Browser and system in words that a person recognizes, such as `Firefox on Linux`. */
export function browserOf(userAgent: string): string {
  if (userAgent === '') return UNKNOWN
  const { browser, os } = Bowser.parse(userAgent)
  // Programs that are no browsers have an empty name.
  const name = browser.name === undefined || browser.name === '' ? UNKNOWN : browser.name
  return os.name === undefined ? name : `${name} on ${os.name}`
}
