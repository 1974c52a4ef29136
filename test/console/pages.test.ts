import { inBrowser } from './bed.ts'
import { emptyPages, everyPage } from './pages.ts'

inBrowser('the pages of the console', { empty: [emptyPages], filled: [everyPage] })
