/**
 * The media types that `Accept` names, in its order and in lower case. One with the weight 0 is not acceptable, and so
 * not among them (RFC 9110 section 12.4.2).
 */
export function acceptedTypes(accept: string | string[] | undefined): string[] {
  if (accept === undefined) return []
  return String(accept)
    .split(',')
    .flatMap((range) => {
      const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      return parameters.some((parameter) => ZERO_WEIGHT.test(parameter)) ? [] : [type!]
    })
}

const ZERO_WEIGHT = /^q=0(?:\.0{0,3})?$/
