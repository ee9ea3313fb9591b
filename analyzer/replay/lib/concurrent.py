import concurrent.futures as futures
