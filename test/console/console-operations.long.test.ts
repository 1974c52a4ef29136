import { inBrowser } from './bed.ts'
import { resilience } from './resilience.ts'
import { status } from './status.ts'
import { testClocks } from './test-clocks.ts'
import { webhooks } from './webhooks.ts'

inBrowser('operation in the console', { filled: [status, testClocks, webhooks, resilience] })
