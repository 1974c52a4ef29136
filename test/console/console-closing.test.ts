import { inBrowser } from './bed.ts'
import { closing } from './closing.ts'

// Without background work, which would enter the fees before a person does.
inBrowser('closing a month in the console', { empty: [closing] }, { background: false })
