import { inBrowser } from './bed.ts'
import { closing } from './closing.ts'
import { taskOfClosing } from './money-tasks.ts'

// Without background work, which would enter the fees before a person does.
inBrowser('closing a month in the console', { empty: [closing] }, { background: false })
inBrowser('a month in the console, action by action', { empty: [taskOfClosing] }, { background: false })
