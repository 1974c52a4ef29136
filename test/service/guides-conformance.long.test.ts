import { expect, onTestFinished, test } from 'vitest'
import { openCheckout, works } from '../harness/guides.ts'

test.skipIf(!works('jq', '--version'))(
  'the guide to svc conformance runs as printed, and creates credentials with which this server conforms',
  async () => {
    const checkout = await openCheckout()
    onTestFinished(() => checkout.close())
    await checkout.runGuide('guides/conformance.md')
    const reported = await checkout.bash(
      `node bin/svc.mjs conformance ${checkout.baseUrl} --credentials credentials.json`,
    )
    expect(reported).toMatch(/Conforms in all that could be checked: [4-9]\d\d passed, 0 failed, 0 blocked/)
  },
  // Twenty commands, each a process of its own.
  300_000,
)
