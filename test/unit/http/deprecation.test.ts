import { deprecationHeaders } from '@svc/server/http/deprecation'
import { expect, test } from 'vitest'

const deprecated = { since: new Date('2027-01-01T00:00:00Z'), sunset: new Date('2028-06-30T00:00:00Z') }

test('a deprecated operation states since when and until when, as RFC 9745 and RFC 8594 specify it', () => {
  expect(deprecationHeaders(deprecated, 'https://pay.example.com')).toEqual({
    deprecation: '@1798761600',
    sunset: 'Fri, 30 Jun 2028 00:00:00 GMT',
    link: '<https://pay.example.com/docs/reference/compatibility#deprecation>; rel="deprecation"; type="text/html"',
  })
})
